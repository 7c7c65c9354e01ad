package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// TestExample shows the example as "make example-kafka" prints it: a real Kafka
// broker, a cluster of three, the program killed and started again, and an
// operator who moves the group by the tidemark command.
func TestExample(t *testing.T) {
	s := &show{t: t, kafka: javaparts.StartKafka(t).Addr, tide: tidemarktest.Start(t, 3, tidemarktest.WithTimers("slow-disk"))}
	root, err := javaparts.Root()
	if err != nil {
		t.Fatal(err)
	}
	s.example = s.build(".", ".")
	s.tidemark = s.build(root, "./cmd/tidemark")
	s.say("Kafka is at %s, Tidemark at %s", s.kafka, s.nodes())

	s.produce(0, 10)
	first := s.start()
	first.until("partition 0 offset 9: order 9")
	s.stored(10)
	s.say("kill -9")
	first.end(syscall.SIGKILL)

	s.produce(10, 15)
	second := s.start()
	if line := second.next(); line != "partition 0 offset 10: order 10" {
		t.Errorf("the second one began with %q", line)
	}
	second.until("partition 0 offset 14: order 14")

	s.run("group", "describe", "printers")
	s.run("group", "reset", "printers", "--queue", "0", "--to-offset", "12", "--execute")
	second.until("moved: partition 0 goes on at 12 (fenced)")
	second.until("partition 0 offset 14: order 14")
	s.say("SIGTERM: what is done is stored")
	second.end(syscall.SIGTERM)
	s.stored(15)
	s.run("group", "describe", "printers")
}

// show is what takes part.
type show struct {
	t                 *testing.T
	kafka             string
	tide              *tidemarktest.Cluster
	example, tidemark string // the programs
}

func (s *show) say(format string, args ...any) { fmt.Printf("--- "+format+"\n", args...) }

func (s *show) nodes() string { return strings.Join(s.tide.Endpoints(), ",") }

// build builds a package of the module that dir is in.
func (s *show) build(dir, pkg string) string {
	s.t.Helper()
	out := filepath.Join(s.t.TempDir(), "program")
	cmd := exec.CommandContext(s.t.Context(), "go", "build", "-o", out, pkg)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("building %s: %v: %s", pkg, err, text)
	}
	return out
}

// produce appends orders from one number up to another.
func (s *show) produce(from, to int) {
	s.t.Helper()
	s.say("producing order %d to %d", from, to-1)
	k, err := kgo.NewClient(kgo.SeedBrokers(s.kafka), kgo.AllowAutoTopicCreation(), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		s.t.Fatal(err)
	}
	defer k.Close()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for i := from; i < to; i++ {
		r := &kgo.Record{Topic: "orders", Value: fmt.Append(nil, "order ", i)}
		if err := k.ProduceSync(ctx, r).FirstErr(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// run runs the tidemark command, and shows what it says.
func (s *show) run(args ...string) {
	s.t.Helper()
	fmt.Println("$ tidemark", strings.Join(args, " "))
	cmd := exec.CommandContext(s.t.Context(), s.tidemark, append(args, "--endpoints", s.nodes())...)
	out, err := cmd.CombinedOutput()
	os.Stdout.Write(out)
	if err != nil {
		s.t.Fatal(err)
	}
}

// stored waits until Tidemark has an offset of partition 0.
func (s *show) stored(next int64) {
	s.t.Helper()
	mq := offset.MessageQueue{Topic: "orders"}
	for end := time.Now().Add(time.Minute); s.tide.Offsets("printers")[mq] != next; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%d is stored, want %d", s.tide.Offsets("printers")[mq], next)
		}
	}
	s.say("Tidemark has %d as the next message of partition 0", next)
}

// program is the example, running.
type program struct {
	s     *show
	cmd   *exec.Cmd
	lines chan string // what it says; closed at its end
}

func (s *show) start() *program {
	s.t.Helper()
	p := &program{s: s, lines: make(chan string, 1000)}
	p.cmd = exec.CommandContext(s.t.Context(), s.example, "-kafka", s.kafka, "-tidemark", s.nodes())
	fmt.Println("$ example", strings.Join(p.cmd.Args[1:], " "))
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	go func() { // end waits for it
		defer close(p.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Println(lines.Text())
			p.lines <- lines.Text()
		}
	}()
	return p
}

// next gives the next line that the program says.
func (p *program) next() string {
	p.s.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.s.t.Fatal("the example ended by itself")
		}
		return line
	case <-time.After(time.Minute):
		p.s.t.Fatal("the example says nothing more")
		return ""
	}
}

// until waits for a line.
func (p *program) until(line string) {
	p.s.t.Helper()
	for p.next() != line {
	}
}

// end ends the program, and waits for it.
func (p *program) end(sig syscall.Signal) {
	p.s.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.s.t.Fatal(err)
	}
	for range p.lines {
	}
	if err := p.cmd.Wait(); (err == nil) != (sig == syscall.SIGTERM) {
		p.s.t.Fatalf("the example ended with %v after %v", err, sig)
	}
}
