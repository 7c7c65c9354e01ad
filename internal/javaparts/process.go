package javaparts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// jvm are the options of every Java process: a small one that starts fast.
var jvm = []string{
	"-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
	"-XX:MaxDirectMemorySize=256m",
	"--add-opens=java.base/java.nio=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-opens=java.base/java.lang=ALL-UNNAMED",
	"--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
}

// Patience is how long a server may take to start, or to end, and a broker to forget a
// consumer that is gone: a heartbeat that it reads behind the end of its connection makes
// that a consumer anew, with a share of the queues, until it is scanned after two minutes
// (ConsumerManager).
const Patience = 4 * time.Minute

// process is a process and what it said.
type process struct {
	name string
	log  string        // the file that it writes what it says to
	cmd  *exec.Cmd     // its Process is set
	done chan struct{} // closed once it has ended
	err  error         // what Wait returned; read after done
}

// java is a Java process with the options of all, not started yet.
func java(args ...string) *exec.Cmd {
	return exec.Command("java", append(jvm[:len(jvm):len(jvm)], args...)...)
}

// launch starts a process that says what it says to a file in dir, unless its
// stdout goes elsewhere. A goroutine waits for it, on the thread that started
// it, until it ends.
func launch(dir, name string, cmd *exec.Cmd) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, name+".out"), cmd: cmd, done: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd.Dir, cmd.Stderr = dir, out
	if cmd.Stdout == nil {
		cmd.Stdout = out
	}
	dieWithUs(p.cmd)
	started := make(chan error)
	go func() { // stop and kill wait for it
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// await asks until the process answers. An error says that it ended, with what
// it said last, or that Patience is over.
func (p *process) await(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended while it started (%v): %s", p.name, p.err, p.said())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %v: %w; it said: %s", p.name, Patience, err, p.said())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// chatter is what logback says of itself, a hundred lines at each start.
var chatter = regexp.MustCompile(`(?m)^.*\|-INFO in .*\n`)

// said gives the end of what the process wrote.
func (p *process) said() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return lastLines(chatter.ReplaceAll(b, nil), 40)
}

// end sends a signal and waits for the end; a process that takes longer than
// Patience is killed.
func (p *process) end(sig os.Signal) { p.endWithin(Patience, sig) }

func (p *process) endWithin(d time.Duration, sig os.Signal) {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.cmd.Process.Kill()
	}
	select {
	case <-p.done:
	case <-time.After(d):
		p.cmd.Process.Kill()
		<-p.done
	}
}

// server is a Java process that can be started again where it was.
type server struct {
	tb     testing.TB
	name   string
	dir    string
	choose func()                      // picks the ports, before the first start; nil after it
	args   func() []string             // writes its files, and gives its arguments
	ready  func(context.Context) error // asks it
	p      *process                    // the newest run; nil before the first
}

// Start starts the server and waits until it answers. From the second time on
// it is over the same files and ports; it must have ended. A first start that
// ends at once is tried again with other ports, which somebody may have taken.
func (s *server) Start() {
	s.tb.Helper()
	s.own()
	for attempt := 1; ; attempt++ {
		if s.choose != nil {
			s.choose()
		}
		err := s.run()
		if err == nil {
			s.choose = nil
			return
		}
		if ended := !s.Running(); s.p != nil {
			s.p.end(syscall.SIGKILL)
			if s.choose != nil && ended && attempt < 3 {
				continue
			}
		}
		s.tb.Fatal(err)
	}
}

// run is one start.
func (s *server) run() (err error) {
	if s.p, err = launch(s.dir, s.name, java(s.args()...)); err != nil {
		return err
	}
	return s.p.await(s.tb.Context(), s.ready)
}

// own makes the end of the test the server's, once.
func (s *server) own() {
	if s.p != nil {
		return
	}
	s.tb.Cleanup(func() {
		if s.p == nil {
			return
		}
		s.p.end(syscall.SIGKILL)
		if s.tb.Failed() {
			s.tb.Logf("%s said last:\n%s%s", s.name, s.p.said(), s.logged())
		}
	})
}

// told is what is worth reading in a server's log: not each thread that starts.
var told = regexp.MustCompile(`(?mi)^.*(?: WARN | ERROR |tidemark).*$`)

// logged gives the end of what the server wrote into its log file; a Kafka broker has none.
func (s *server) logged() string {
	b, err := os.ReadFile(filepath.Join(s.dir, "logs", "rocketmqlogs", s.name+".log"))
	if err != nil {
		return ""
	}
	return "\nand logged last:\n" + lastLines(bytes.Join(told.FindAll(b, -1), []byte("\n")), 40)
}

// Kill ends the server as kill -9 does, and waits for that. Its files stay.
func (s *server) Kill() { s.p.end(syscall.SIGKILL) }

// Stop ends the server as SIGTERM does, and waits for it.
func (s *server) Stop() { s.p.end(syscall.SIGTERM) }

// Pause makes the server stand still until Resume, or until it is killed.
func (s *server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (s *server) Resume() { s.signal(syscall.SIGCONT) }

func (s *server) signal(sig os.Signal) {
	s.tb.Helper()
	if err := s.p.cmd.Process.Signal(sig); err != nil {
		s.tb.Fatalf("%s: %v", s.name, err)
	}
}

// Running tells whether the server has been started and has not ended.
func (s *server) Running() bool {
	if s.p == nil {
		return false
	}
	select {
	case <-s.p.done:
		return false
	default:
		return true
	}
}
