//go:build linux

package disks

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/disks/disk"
	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
)

// onDisks is an arena of processes, each on a disk of its own.
type onDisks struct {
	arena.Arena
	disks map[string]*disk.Disk
}

// Arena founds a cluster of n processes on disks, which take the place of what is
// in disks; Faults of the same map break them.
func Arena(tb testing.TB, n int, disks map[string]*disk.Disk) arena.Arena {
	clear(disks)
	return onDisks{arena.Processes(tb, n, Put(disks)), disks}
}

// Folder is below the disk: the process that serves a file system must not map
// its files, since it could wait for itself.
func (o onDisks) Folder(name string) string {
	if d := o.disks[name]; d != nil {
		return d.Below
	}
	return o.Arena.Folder(name)
}

// Wipe empties a disk, and leaves it mounted.
func (o onDisks) Wipe(name string) error {
	d := o.disks[name]
	if d == nil {
		return o.Arena.Wipe(name)
	}
	if o.Running(name) {
		return errors.New("wiping " + name + ": it runs")
	}
	if err := d.Wipe(); err != nil {
		return fmt.Errorf("wiping %s: %w", name, err)
	}
	return nil
}
