package processes

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// TestCtrlCStopsAll: "cluster.sh run" gives a cluster with three commands to
// try, and an interrupt of its terminal stops all cleanly.
func TestCtrlCStopsAll(t *testing.T) {
	c := local.New(t, 3)
	cmd := c.Script("cluster.sh", "run", "3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a terminal's job
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	text := func() string { b, _ := os.ReadFile(said.Name()); return string(b) }
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // awaited below
	ask.Until(t, "the cluster says what to try", func() bool { return strings.Contains(text(), "Ctrl-C stops all") })
	commands(t, c, text())
	pids := pids(t, c)

	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("cluster.sh run ends with %v after Ctrl-C:\n%s", err, text())
		}
	case <-time.After(ask.Patience):
		t.Fatalf("cluster.sh run goes on after Ctrl-C:\n%s", text())
	}
	for name, pid := range pids {
		ask.Until(t, name+" has ended", func() bool { return !runs(pid) })
		if log := c.Log(name); !strings.Contains(log, "stopping") || !strings.HasSuffix(strings.TrimSpace(log), "stopped") && !strings.Contains(log, ": stopped") {
			t.Errorf("%s did not stop cleanly; its log ends with %q", name, log[max(0, len(log)-300):])
		}
	}
}

// TestAClusterKeepsItsPorts: who looks at a cluster from another terminal need
// not name its ports again, and cannot start a node of it at others.
func TestAClusterKeepsItsPorts(t *testing.T) {
	c := local.Start(t, 1)
	elsewhere := func(port string, args ...string) (string, error) {
		cmd := c.Script("cluster.sh", args...)
		cmd.Env = append(cmd.Env, "CLUSTER_PORT="+port)
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	if out, err := elsewhere("", "endpoints"); err != nil || out != c.API("n1") {
		t.Errorf("without a port: %q, %v; want %s", out, err, c.API("n1"))
	}
	c.Sh("kill", "n1")
	if out, err := elsewhere("19", "start", "n1"); err == nil || !strings.Contains(out, "not from 19") {
		t.Errorf("a start at other ports: %q, %v; want a refusal", out, err)
	}
	if out, err := elsewhere("19", "help"); err != nil {
		t.Errorf("help at other ports: %q, %v", out, err)
	}
	if _, err := elsewhere("", "start", "n1"); err != nil {
		t.Error(err)
	}
	c.Sh("ready")
}

// TestAPortThatIsTaken: the start ends with the node that has ended, and why, also
// where others wait for that node; and afterwards other ports may be tried.
func TestAPortThatIsTaken(t *testing.T) {
	c := local.New(t, 2)
	l, err := net.Listen("tcp", c.API("n2"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	began := time.Now()
	out, err := c.Script("cluster.sh", "up", "2").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "n2 has ended") || !strings.Contains(string(out), "address already in use") {
		t.Errorf("with the port of n2 taken: %v\n%s", err, out)
	}
	if took := time.Since(began); took > 40*time.Second { // the nodes are given 60 s
		t.Errorf("it took %v to say so", took)
	}
	if _, err := os.Stat(filepath.Join(c.Run, "port")); !os.IsNotExist(err) {
		t.Errorf("the ports of a cluster that never ran are kept: %v", err)
	}
}

// TestStopOfANodeThatEndsByItself: it may do so between any two looks at it, here
// after 20 to 80 ms, and is stopped then.
func TestStopOfANodeThatEndsByItself(t *testing.T) {
	c := local.New(t, 1, local.Programs(t.TempDir()))
	if err := os.WriteFile(filepath.Join(c.Bin, "tidemarkd"), []byte("#!/bin/sh\nexec sleep $LASTS\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(c.Run, 0o700), os.WriteFile(filepath.Join(c.Run, "size"), []byte("1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for ms := range effort.Of(12, 60) {
		start := c.Script("cluster.sh", "start", "n1")
		start.Env = append(start.Env, fmt.Sprintf("LASTS=0.%03d", 20+ms*60/effort.Of(12, 60)))
		if out, err := start.CombinedOutput(); err != nil && !strings.Contains(string(out), "has ended at once") {
			t.Fatalf("%v\n%s", err, out)
		}
		c.Sh("stop", "n1")
	}
}

// commands runs the three commands that are offered, each in a shell where the
// offered variables are exported.
func commands(t *testing.T, c *local.Cluster, text string) {
	t.Helper()
	n, exports := 0, ""
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "  ") || strings.TrimSpace(line) == "" {
			continue
		}
		if strings.HasPrefix(line, "  export ") {
			exports += strings.TrimSpace(line) + "; "
			continue
		}
		n++
		line = strings.TrimSpace(line)
		ask.Until(t, line+" finds all well", func() bool {
			out, err := c.Shell(exports + line).CombinedOutput()
			if err != nil && strings.HasSuffix(line, "cluster status") {
				return false // as long as an election takes
			}
			if err != nil || len(out) == 0 {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
			return true
		})
	}
	if n != 3 {
		t.Errorf("%d commands are offered, want three:\n%s", n, text)
	}
}

// pids are those of the nodes.
func pids(t *testing.T, c *local.Cluster) map[string]string {
	t.Helper()
	list := map[string]string{}
	for _, n := range c.Names() {
		b, err := os.ReadFile(filepath.Join(c.Run, n, "pid"))
		if err != nil {
			t.Fatal(err)
		}
		if list[n] = strings.TrimSpace(string(b)); !runs(list[n]) {
			t.Errorf("%s does not run", n)
		}
	}
	return list
}

// runs tells whether a process runs; one that waits to be buried does not.
func runs(pid string) bool {
	b, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(b), ") ")
	return after != "" && after[0] != 'Z'
}
