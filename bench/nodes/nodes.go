// Package nodes runs a cluster of real processes for a benchmark, by
// cluster-test/cluster.sh, and reads what they tell of themselves. Each daemon
// serves metrics and profiles at a port of its own.
package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// Cluster is a cluster of three processes, n1 to n3.
type Cluster struct {
	// Run is where its data and logs lie, Bin where the programs do.
	Run, Bin string
	// Port is the first port; 30 from there, and 30 from 1000 above, are used.
	Port int
	// Env is what the daemons get beside the environment, as NAME=VALUE.
	Env []string
}

// Names are the names of the nodes.
var Names = []string{"n1", "n2", "n3"}

// root is the module's folder, found by where this file was compiled from.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Sh runs cluster.sh and gives what it printed; its complaints go to stderr.
func (c *Cluster) Sh(args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(root(), "cluster-test", "cluster.sh"), args...)
	cmd.Env = append(append(os.Environ(), c.Env...),
		"CLUSTER_RUN="+c.Run, "CLUSTER_BIN="+c.Bin, "CLUSTER_PORT="+strconv.Itoa(c.Port),
		"CLUSTER_WRAP="+filepath.Join(root(), "bench", "nodes", "wrap.sh")+" %n")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("cluster.sh %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), err
}

// Up starts an empty cluster; what an earlier run left there is deleted.
func (c *Cluster) Up() error {
	if _, err := c.Sh("clean"); err != nil {
		return err
	}
	_, err := c.Sh("up", strconv.Itoa(len(Names)))
	return err
}

// Close stops all nodes and deletes their data.
func (c *Cluster) Close() error {
	_, err := c.Sh("clean")
	return err
}

// API is the address of a node's API, Ops that of its metrics.
func (c *Cluster) API(name string) string { return c.at(name, 0) }

// Ops is where a node serves metrics and profiles.
func (c *Cluster) Ops(name string) string { return c.at(name, 1000) }

func (c *Cluster) at(name string, more int) string {
	return "127.0.0.1:" + strconv.Itoa(c.Port+10*int(name[1]-'1')+more)
}

// Endpoints are all API addresses.
func (c *Cluster) Endpoints() (list []string) {
	for _, n := range Names {
		list = append(list, c.API(n))
	}
	return list
}

// Client gives a client of the cluster.
func (c *Cluster) Client() (*client.Client, error) { return client.New(c.Endpoints()) }

// Leader is the name of the node that leads.
func (c *Cluster) Leader() (string, error) { return c.Sh("leader") }

// Tidemark is a run of the CLI against the cluster, not started yet.
func (c *Cluster) Tidemark(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.Bin, "tidemark"), append([]string{"--endpoints", strings.Join(c.Endpoints(), ",")}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// Identity reads the cluster's id.
func Identity(ctx context.Context, c *client.Client) (offset.ClusterID, error) {
	p, err := c.List(ctx, offset.List{Limit: 1})
	return p.Meta.Cluster, err
}

// get reads a page of a node.
func get(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", url, resp.Status, bytes.TrimSpace(body))
	}
	return body, err
}

// Ready asks a node's health page; nil: it serves.
func (c *Cluster) Ready(ctx context.Context, name string) error {
	_, err := get(ctx, "http://"+c.API(name)+"/readyz")
	return err
}

// Kill ends a node with SIGKILL, and waits until its address is free: the
// kernel takes its time over a large process that it has declared dead.
func (c *Cluster) Kill(ctx context.Context, name string) error {
	if _, err := c.Sh("kill", name); err != nil {
		return err
	}
	for {
		l, err := net.Listen("tcp", c.API(name))
		if err == nil {
			return l.Close()
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// AwaitReady asks until the node serves, for five minutes at most, and tells
// how long that took.
func (c *Cluster) AwaitReady(ctx context.Context, name string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	began := time.Now()
	for {
		call, cancel := context.WithTimeout(ctx, time.Second)
		err := c.Ready(call, name)
		cancel()
		if err == nil {
			return time.Since(began), nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return 0, errors.Join(ctx.Err(), err)
		}
	}
}

// Metrics are the values of a node's /metrics without labels, by name; of
// summaries, quantiles are left out.
func (c *Cluster) Metrics(ctx context.Context, name string) (map[string]float64, error) {
	body, err := get(ctx, "http://"+c.Ops(name)+"/metrics")
	if err != nil {
		return nil, err
	}
	return parse(body), nil
}

func parse(page []byte) map[string]float64 {
	m := map[string]float64{}
	for line := range strings.Lines(string(page)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(key, "#") || strings.Contains(key, "{") {
			continue
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			m[key] = v
		}
	}
	return m
}

// Memory is what a node's process takes.
type Memory struct {
	// Heap is what lives on the Go heap after a collection, Resident what the
	// kernel counts just before it.
	Heap, Resident float64
}

// Memory has a node collect its garbage and tells what is left, in bytes.
func (c *Cluster) Memory(ctx context.Context, name string) (Memory, error) {
	before, err := c.Metrics(ctx, name)
	if err != nil {
		return Memory{}, err
	}
	for range 3 { // what pools hold goes with the second
		if _, err := get(ctx, "http://"+c.Ops(name)+"/debug/pprof/heap?gc=1"); err != nil {
			return Memory{}, err
		}
	}
	after, err := c.Metrics(ctx, name)
	return Memory{Heap: after["go_memstats_heap_alloc_bytes"], Resident: before["process_resident_memory_bytes"]}, err
}

// Profile writes a CPU profile of so many seconds to a file.
func (c *Cluster) Profile(ctx context.Context, name string, seconds int, file string) error {
	body, err := get(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", c.Ops(name), seconds))
	if err != nil {
		return err
	}
	return os.WriteFile(file, body, 0o600)
}
