package stability

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// TestSaturatedDisk: neighbours on the nodes' file system write and sync large
// blocks, as fast as the disk takes them.
func TestSaturatedDisk(t *testing.T) {
	for _, preset := range presets() {
		t.Run(preset, func(t *testing.T) {
			c := local.Start(t, 3, timers(preset))
			bear(t, c, preset, effort.Of(5*time.Second, 2*time.Minute), func() func() string { return saturateDisk(t, c.Run) })
		})
	}
}

// TestSaturatedProcessors: beside the nodes there are as many processes that
// never wait as there are processors.
func TestSaturatedProcessors(t *testing.T) {
	for _, preset := range presets() {
		t.Run(preset, func(t *testing.T) {
			c := local.Start(t, 3, timers(preset))
			bear(t, c, preset, effort.Of(5*time.Second, 2*time.Minute), func() func() string { return saturateProcessors(c) })
		})
	}
}

// block is what the neighbours on the disk write between two syncs, in files of
// span bytes that they write over and over.
const (
	block = 8 << 20
	span  = 64 << 20
)

// saturateDisk begins to write in the folder; end waits for the writers, and so
// does the end of the test.
func saturateDisk(t *testing.T, folder string) (end func() string) {
	var (
		stop    = make(chan struct{})
		all     sync.WaitGroup
		written atomic.Int64
		began   = time.Now()
	)
	for i := range 2 {
		path := filepath.Join(folder, fmt.Sprintf("neighbour-%d", i))
		all.Go(func() {
			if err := writeBlocks(path, stop, &written); err != nil {
				t.Errorf("the neighbour on the disk: %v", err)
			}
		})
	}
	halt := sync.OnceFunc(func() { close(stop); all.Wait() })
	t.Cleanup(halt)
	return func() string {
		halt()
		if written.Load() == 0 {
			t.Error("the neighbours on the disk have written nothing")
		}
		return fmt.Sprintf("a disk that takes %.0f MB/s in blocks beside", float64(written.Load())/1e6/time.Since(began).Seconds())
	}
}

// writeBlocks writes and syncs until stop, and adds what was synced to written.
func writeBlocks(path string, stop <-chan struct{}, written *atomic.Int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	data := make([]byte, block)
	for at := int64(0); ; at = (at + block) % span {
		select {
		case <-stop:
			return nil
		default:
		}
		if _, err := f.WriteAt(data, at); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		written.Add(block)
	}
}

// saturateProcessors starts the processes that never wait; end kills them.
func saturateProcessors(c *local.Cluster) (end func() string) {
	var busy []*local.Daemon
	for range runtime.NumCPU() {
		busy = append(busy, c.Program("bash", "-c", "while :; do :; done"))
	}
	return func() string {
		for _, d := range busy {
			d.Kill()
		}
		return fmt.Sprintf("%d busy processes beside", len(busy))
	}
}
