//go:build linux

// Package disks runs clusters of real processes whose data folders lie on disks
// that can be slow, hang, fail, be full, lose power or be damaged (package
// disk), and shows what the nodes make of it. The faults are values too, for
// runs that mix them with others.
package disks

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/disks/disk"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// diskBytes is the size of each node's disk; it is memory, as far as it is used.
const diskBytes = 256 << 20

// wrapper notes the exit code of a node, which cluster.sh does not wait for. A node
// that is started again waits until that of its run before has been noted, which
// would pass for its own.
const wrapper = `#!/usr/bin/env bash
exec 8>"$CLUSTER_RUN/$1/noting" && flock 8
rm -f "$CLUSTER_RUN/$1/code"
only=$(cat "$CLUSTER_RUN/only" 2>/dev/null) && [ "$only" != "$1" ] && unset TIDEMARK_MISTAKE
"${@:2}" 8>&-
echo $? >"$CLUSTER_RUN/$1/code.new"
mv "$CLUSTER_RUN/$1/code.new" "$CLUSTER_RUN/$1/code"
`

// Only is an option that has one node alone make the mistake of local.Planted,
// or none; see Cluster.Mistaken.
func Only(name string) local.Option {
	return func(c *local.Cluster) { (&Cluster{Cluster: c}).Mistaken(name) }
}

// Mistaken says which node alone makes the mistake from its next start on.
func (c *Cluster) Mistaken(name string) {
	err := os.MkdirAll(c.Run, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(c.Run, "only"), []byte(name), 0o600)
	}
	if err != nil {
		c.TB.Fatal(err)
	}
}

// Put is an option that puts each node's data folder on a disk of its own and
// adds these to disks by the names of the nodes.
func Put(disks map[string]*disk.Disk) local.Option {
	return func(c *local.Cluster) {
		for _, n := range c.Names() {
			dir := filepath.Join(c.Run, n, "data")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				c.TB.Fatal(err)
			}
			disks[n] = disk.Mount(c.TB, dir, diskBytes)
		}
		wrap := filepath.Join(c.Run, "wrap.sh")
		if err := os.WriteFile(wrap, []byte(wrapper), 0o700); err != nil {
			c.TB.Fatal(err)
		}
		local.Env("CLUSTER_WRAP", wrap+" %n")(c)
		c.TB.Cleanup(func() { noted(c) })
	}
}

// noted waits until the exit codes of all nodes that ran are noted: the folders that
// they are noted in go next.
func noted(c *local.Cluster) {
	for _, n := range c.Names() {
		if _, err := os.Stat(filepath.Join(c.Run, n, "started")); err == nil {
			(&Cluster{Cluster: c}).Ended(n)
		}
	}
}

// Cluster is a cluster on disks.
type Cluster struct {
	*local.Cluster
	Disks map[string]*disk.Disk
}

// Start starts a cluster of n nodes on disks.
func Start(tb testing.TB, n int, options ...local.Option) *Cluster {
	tb.Helper()
	c := &Cluster{Disks: map[string]*disk.Disk{}}
	c.Cluster = local.Start(tb, n, append(options, Put(c.Disks))...)
	return c
}

// Ended waits until a node has ended, and returns its exit code. A process that
// waits for a hanging disk ends when that is over.
func (c *Cluster) Ended(name string) int {
	c.TB.Helper()
	code := -1
	ask.Until(c.TB, name+" has ended", func() (ok bool) {
		code, ok = c.code(name)
		return ok
	})
	return code
}

// code is the exit code of a node that has ended.
func (c *Cluster) code(name string) (int, bool) {
	b, err := os.ReadFile(filepath.Join(c.Run, name, "code"))
	if err != nil {
		return 0, false
	}
	code, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return code, err == nil
}

// Deaf waits until a node takes no connection any more on either port.
func (c *Cluster) Deaf(name string) {
	c.TB.Helper()
	for _, addr := range []string{c.API(name), c.Peer(name)} {
		ask.Until(c.TB, fmt.Sprintf("%s does not listen on %s", name, addr), func() bool {
			conn, err := net.DialTimeout("tcp", addr, time.Second)
			if err == nil {
				_ = conn.Close() // only looked at
			}
			return err != nil
		})
	}
}

// Serves waits until nodes serve; none: all.
func (c *Cluster) Serves(names ...string) {
	c.TB.Helper()
	for _, n := range c.Nodes(names...) {
		ask.Until(c.TB, n.Name+" serves", func() bool {
			status, _, err := n.Page(ask.Within(c.TB, time.Second), "/readyz")
			return err == nil && status == 200
		})
	}
}

// Off cuts the power of nodes and ends their processes.
func (c *Cluster) Off(names ...string) {
	c.TB.Helper()
	for _, n := range names {
		c.Disks[n].PowerOff()
	}
	for _, n := range names {
		_ = c.Script("cluster.sh", "kill", n).Run() // it may have ended by itself
		if code := c.Ended(n); code != 137 && code != 74 {
			c.TB.Errorf("%s, whose disk has no power, ended with %d: %s", n, code, crash(c.Log(n)))
		}
	}
}

// On gives nodes their power back, and starts them. What of the unsynced changes
// had reached the disk, r decides; nil: none.
func (c *Cluster) On(r *rand.Rand, names ...string) {
	c.TB.Helper()
	for _, n := range names {
		unsynced, kept, err := c.Disks[n].PowerOn(r)
		if err != nil {
			c.TB.Fatal(err)
		}
		c.TB.Logf("%s: %d changes were not synced, %d stayed", n, unsynced, kept)
	}
	for _, n := range names {
		c.Try(n)
	}
}

// crash is what the runtime says first of a crash, if there is one.
func crash(log string) string {
	for _, sign := range []string{"unexpected fault address", "panic: ", "fatal error: "} {
		if at := strings.Index(log, sign); at >= 0 {
			return log[at:min(len(log), at+3000)]
		}
	}
	return log[max(0, len(log)-1000):]
}
