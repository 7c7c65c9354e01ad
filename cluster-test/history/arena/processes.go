package arena

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/ports"
	"github.com/tidemark-mq/tidemark/transport/memnet"
)

// processes is a cluster of tidemarkd processes on this machine.
type processes struct {
	c *local.Cluster

	mu    sync.Mutex
	names []string             // guarded by mu, as are all below
	nodes map[string]*wired    // by name
	down  map[string]bool      // killed or stopped
	more  map[string]*addition // started by Add
}

// addition is a daemon that was started beside those of the cluster.
type addition struct {
	api, peer, dir string
	daemon         *local.Daemon
}

// Processes founds a cluster of n processes, which are ended with the test.
func Processes(tb testing.TB, n int, options ...local.Option) Arena {
	tb.Helper()
	c := local.Start(tb, n, options...)
	p := &processes{c: c, names: c.Names(), nodes: map[string]*wired{}, down: map[string]bool{}, more: map[string]*addition{}}
	tb.Cleanup(p.hangUp)
	return p
}

func (p *processes) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.nodes {
		n.close()
	}
}

func (p *processes) Names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.names...)
}

func (p *processes) Node(name string) Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.nodes[name]
	if n == nil {
		n = newWired(p.apiLocked(name), nil)
		p.nodes[name] = n
	}
	return n
}

func (p *processes) apiLocked(name string) string {
	if m := p.more[name]; m != nil {
		return m.api
	}
	return p.c.API(name)
}

func (p *processes) API(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.apiLocked(name)
}

func (p *processes) Peer(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.more[name]; m != nil {
		return m.peer
	}
	return p.c.Peer(name)
}

func (p *processes) Folder(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.more[name]; m != nil {
		return m.dir
	}
	return filepath.Join(p.c.Run, name, "data")
}

func (p *processes) addition(name string) *addition {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.more[name]
}

func (p *processes) Running(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.more[name]; m != nil {
		return m.daemon.Running()
	}
	return !p.down[name]
}

func (p *processes) mark(name string, down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down[name] = down
}

// script runs a command of cluster.sh.
func (p *processes) script(args ...string) error {
	out, err := p.c.Script("cluster.sh", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cluster.sh %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (p *processes) Kill(name string) error {
	if m := p.addition(name); m != nil {
		m.daemon.Kill()
		return nil
	}
	p.mark(name, true)
	return p.script("kill", name)
}

func (p *processes) Stop(name string) error {
	if m := p.addition(name); m != nil {
		m.daemon.Stop(p.c.TB)
		return nil
	}
	p.mark(name, true)
	return p.script("stop", name)
}

func (p *processes) Start(name string) error {
	if m := p.addition(name); m != nil {
		p.launch(name, m)
		return nil
	}
	err := p.script("start", name)
	p.mark(name, err != nil)
	return err
}

func (p *processes) launch(name string, m *addition) {
	d := p.c.Daemon("--name", name, "--data", m.dir, "--listen", m.api, "--advertise", m.api,
		"--peer-listen", m.peer, "--peer-advertise", m.peer)
	p.mu.Lock()
	defer p.mu.Unlock()
	m.daemon = d
}

func (p *processes) Pause(name string) error  { return p.script("pause", name) }
func (p *processes) Resume(name string) error { return p.script("resume", name) }

func (p *processes) Skew(string, time.Duration) error { return ErrCannot }

func (p *processes) Astray(string, bool) error { return ErrCannot }

func (p *processes) Add() (string, error) {
	free := ports.Free(p.c.TB, 1)
	p.mu.Lock()
	name := fmt.Sprintf("n%d", len(p.names)+1)
	m := &addition{
		api: fmt.Sprintf("127.0.0.1:%d", free), peer: fmt.Sprintf("127.0.0.1:%d", free+1), dir: filepath.Join(p.c.Run, name+"-data"),
	}
	p.mu.Unlock()
	p.launch(name, m)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.more[name] = m
	p.names = append(p.names, name)
	return name, nil
}

func (p *processes) Wipe(name string) error {
	if p.Running(name) {
		return fmt.Errorf("wiping %s: it runs", name)
	}
	return os.RemoveAll(p.Folder(name))
}

func (p *processes) Net() *memnet.Network { return nil }

func (p *processes) Close() error {
	p.hangUp()
	for _, name := range p.Names() {
		if m := p.addition(name); m != nil && m.daemon.Running() {
			m.daemon.Stop(p.c.TB)
		}
	}
	for _, name := range p.c.Names() {
		p.mark(name, true)
	}
	return p.script("down")
}
