// Package local runs clusters of real processes inside a test. What it knows
// of them is cluster.sh: each test has a run folder and ports of its own, and
// takes its cluster down at its end.
package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/internal/ports"
)

// Cluster is a cluster of processes. Members are n1, n2, and so on.
type Cluster struct {
	TB testing.TB
	// Bin is where its programs lie, Run where its data and logs do.
	Bin, Run string

	port, nodes int
	env         []string
}

// Option changes a cluster before its start.
type Option func(c *Cluster)

// Env sets a variable for cluster.sh and the daemons.
func Env(name, value string) Option {
	return func(c *Cluster) { c.env = append(c.env, name+"="+value) }
}

// Planted uses a build that makes this mistake.
func Planted(m planted.Mistake) Option {
	return func(c *Cluster) {
		c.Bin = Binaries(c.TB, "tidemark_mutants")
		Env(planted.Variable, m.String())(c)
	}
}

// Programs uses the programs that Build has put into a folder.
func Programs(dir string) Option { return func(c *Cluster) { c.Bin = dir } }

// New chooses folder and ports of a cluster of n nodes and starts none.
func New(tb testing.TB, n int, options ...Option) *Cluster {
	tb.Helper()
	c := &Cluster{TB: tb, Run: filepath.Join(tb.TempDir(), "cluster"), nodes: n, port: freePorts(tb, n)}
	for _, o := range options {
		o(c)
	}
	if c.Bin == "" {
		c.Bin = Binaries(tb, "")
	}
	tb.Cleanup(c.end)
	return c
}

// Start starts a cluster of n nodes and waits until it is healthy.
func Start(tb testing.TB, n int, options ...Option) *Cluster {
	tb.Helper()
	c := New(tb, n, options...)
	c.Sh("up", fmt.Sprint(n))
	return c
}

// end takes the cluster down, and tells what its nodes said if the test failed.
func (c *Cluster) end() {
	if out, err := c.Script("cluster.sh", "down").CombinedOutput(); err != nil {
		c.TB.Errorf("cluster.sh down: %v\n%s", err, out)
	}
	if !c.TB.Failed() {
		return
	}
	for _, n := range c.Names() {
		log, err := os.ReadFile(filepath.Join(c.Run, n, "log"))
		if err == nil {
			c.TB.Logf("the log of %s ends with:\n%s", n, log[max(0, len(log)-4000):])
		}
	}
}

// Names are the names of the nodes.
func (c *Cluster) Names() (list []string) {
	for i := range c.nodes {
		list = append(list, fmt.Sprintf("n%d", i+1))
	}
	return list
}

// API is the API address of a node, Peer its raft port.
func (c *Cluster) API(name string) string { return c.address(name, 0) }

// Peer is the address of a node's raft port.
func (c *Cluster) Peer(name string) string { return c.address(name, 1) }

func (c *Cluster) address(name string, port int) string {
	return fmt.Sprintf("127.0.0.1:%d", c.port+10*int(name[1]-'1')+port)
}

// Endpoints are all API addresses.
func (c *Cluster) Endpoints() (list []string) {
	for _, n := range c.Names() {
		list = append(list, c.API(n))
	}
	return list
}

// Log is what a node has logged.
func (c *Cluster) Log(name string) string {
	b, err := os.ReadFile(filepath.Join(c.Run, name, "log"))
	if err != nil {
		c.TB.Error(err)
	}
	return string(b)
}

// Script is a script of cluster-test over this cluster's folder and ports, not
// started yet.
func (c *Cluster) Script(name string, args ...string) *exec.Cmd {
	return c.prepare(exec.Command(filepath.Join(Root(), "cluster-test", name), args...))
}

// Shell is a line of shell in the module's folder, not started yet.
func (c *Cluster) Shell(line string) *exec.Cmd { return c.prepare(exec.Command("bash", "-c", line)) }

func (c *Cluster) prepare(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = Root()
	cmd.Env = append(append(cleanEnv(), c.env...),
		"CLUSTER_RUN="+c.Run, "CLUSTER_BIN="+c.Bin, fmt.Sprintf("CLUSTER_PORT=%d", c.port))
	return cmd
}

// cleanEnv is the environment without what would reach the daemons and the CLI.
func cleanEnv() (env []string) {
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "TIDEMARK_") && !strings.HasPrefix(pair, "CLUSTER_") {
			env = append(env, pair)
		}
	}
	return env
}

// Sh runs cluster.sh and returns what it printed; it fails the test if that fails.
func (c *Cluster) Sh(args ...string) string {
	c.TB.Helper()
	cmd := c.Script("cluster.sh", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		c.TB.Fatalf("cluster.sh %s: %v\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	return strings.TrimSpace(out.String())
}

// Try starts a node that may end at once.
func (c *Cluster) Try(name string) { _ = c.Script("cluster.sh", "start", name).Run() }

// Leader waits until a node says that it leads, and returns its name.
func (c *Cluster) Leader() string {
	c.TB.Helper()
	leader := ""
	nodes := c.Nodes()
	ask.Until(c.TB, "a node leads", func() bool {
		for _, n := range nodes {
			s, err := n.Status(ask.Within(c.TB, time.Second))
			if err == nil && s.State == "leader" && s.NotReady == "" {
				leader = n.Name
				return true
			}
		}
		return false
	})
	return leader
}

// Nodes are the nodes as they are asked, each by itself; without names: all.
func (c *Cluster) Nodes(names ...string) []*ask.Node {
	if names == nil {
		names = c.Names()
	}
	var list []*ask.Node
	for _, n := range names {
		list = append(list, ask.New(n, c.API(n), nil))
	}
	return list
}

// Others are all nodes but one.
func (c *Cluster) Others(name string) (list []string) {
	for _, n := range c.Names() {
		if n != name {
			list = append(list, n)
		}
	}
	return list
}

// Client makes a client of the cluster, closed with the test.
func (c *Cluster) Client() *client.Client {
	c.TB.Helper()
	cl, err := client.New(c.Endpoints())
	if err != nil {
		c.TB.Fatal(err)
	}
	c.TB.Cleanup(func() { _ = cl.Close() })
	return cl
}

// Healthy asks for the status of the cluster until that is healthy, which it is not
// for as long as an election takes, and returns what the CLI said then.
func (c *Cluster) Healthy() (r Result) {
	c.TB.Helper()
	ask.Until(c.TB, "the cluster is healthy", func() bool {
		r = c.Tidemark("cluster", "status")
		return r.Code == 0
	})
	return r
}

// Result is what a run of the CLI gave.
type Result struct {
	Code     int
	Out, Err string
}

// Tidemark runs the CLI against all endpoints.
func (c *Cluster) Tidemark(args ...string) Result {
	c.TB.Helper()
	return c.TidemarkAt(context.Background(), strings.Join(c.Endpoints(), ","), args...)
}

// TidemarkAt runs the CLI against some endpoints; the end of ctx kills it.
func (c *Cluster) TidemarkAt(ctx context.Context, endpoints string, args ...string) Result {
	c.TB.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(c.Bin, "tidemark"), append([]string{"--endpoints", endpoints, "--timeout", "20s"}, args...)...)
	cmd.Env = cleanEnv()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.TB.Fatalf("tidemark %s: %v", strings.Join(args, " "), err)
	}
	return Result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// Want fails the test unless the exit code is code, and out and err hold these texts.
func (r Result) Want(tb testing.TB, code int, out, err string) Result {
	tb.Helper()
	if r.Code != code || !strings.Contains(r.Out, out) || !strings.Contains(r.Err, err) {
		tb.Fatalf("exit code %d, output %q, errors %q; want %d, %q, %q", r.Code, r.Out, r.Err, code, out, err)
	}
	return r
}

// freePorts finds a first port such that those of n nodes can be listened on.
func freePorts(tb testing.TB, n int) int {
	var offsets []int
	for i := range n {
		offsets = append(offsets, 10*i, 10*i+1)
	}
	return ports.Free(tb, offsets[1:]...)
}
