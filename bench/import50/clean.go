package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tidemark-mq/tidemark/bench/nodes"
)

// summary is what the CLI tells of an import.
type summary struct {
	Chunks, Resumed uint32
	Changed, Kept   uint64 `json:",string"`
	Index           string
}

// begin starts an import; end waits for it and reads what it tells.
func (t *trial) begin() (cmd *exec.Cmd, end func() (summary, error), err error) {
	cmd = t.cluster.Tidemark("--timeout", "60s", "-o", "json", "import", t.file, "--execute")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return cmd, func() (s summary, err error) {
		text, err := io.ReadAll(out)
		if wait := cmd.Wait(); err == nil {
			err = wait
		}
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		return s, err
	}, nil
}

// bring imports the file.
func (t *trial) bring() (summary, error) {
	_, end, err := t.begin()
	if err != nil {
		return summary{}, err
	}
	return end()
}

// export writes everything but the load's group to a file, and gives its hash.
func (t *trial) export() (sum [32]byte, err error) {
	path := filepath.Join(t.Run, "export.json")
	if err := t.cluster.Tidemark("--timeout", "60s", "export", path, "--without", loadGroup).Run(); err != nil {
		return sum, fmt.Errorf("exporting: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [32]byte(h.Sum(nil)), nil
}

// clean is one import into an idle cluster: what it takes, and what there is after.
func (t *trial) clean(ctx context.Context) (sum [32]byte, err error) {
	if err := t.cluster.Up(); err != nil {
		return sum, err
	}
	empty, err := t.memories(ctx)
	if err != nil {
		return sum, err
	}
	w := watch(ctx, t.cluster)
	began := time.Now()
	s, err := t.bring()
	took := time.Since(began)
	w.end()
	if err != nil {
		return sum, err
	}
	if s.Changed != uint64(t.offsets()) {
		return sum, fmt.Errorf("%d offsets were changed of %d", s.Changed, t.offsets())
	}
	row("time into an idle cluster, the CLI's reading and checking included", "%v", round(took))
	t.bound("changes of the leader, idle cluster", float64(w.changes()), 0, "%d", w.changes())
	if err := t.log(ctx); err != nil {
		return sum, err
	}
	full, err := t.memories(ctx)
	if err != nil {
		return sum, err
	}
	t.memory(empty, full)
	return t.export()
}

// log tells of the entries; all that was proposed was the import's.
func (t *trial) log(ctx context.Context) error {
	var bytes, entries, largest, longest float64
	for _, n := range nodes.Names {
		m, err := t.cluster.Metrics(ctx, n)
		if err != nil {
			return err
		}
		bytes, entries = bytes+m["tidemark_proposed_bytes_total"], entries+m["tidemark_proposed_entries_total"]
		largest = max(largest, m["tidemark_proposed_largest_bytes"])
		if m["tidemark_leader"] == 1 {
			longest = m["tidemark_apply_longest_seconds"]
		}
	}
	per := bytes / float64(t.offsets())
	t.bound("bytes of log an offset", per, 12, "%.2f (%.1f MB in %.0f entries)", per, bytes/1e6, entries)
	t.bound("largest entry", largest, 512<<10, "%.1f KiB", largest/1024)
	t.bound("longest Apply on the leader, idle cluster", longest, 0.050, "%.1f ms", 1e3*longest)
	return nil
}

func (t *trial) memories(ctx context.Context) (list []nodes.Memory, err error) {
	for _, n := range nodes.Names {
		m, err := t.cluster.Memory(ctx, n)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// memory tells what a queue takes on the node where it takes most.
func (t *trial) memory(empty, full []nodes.Memory) {
	var heap, resident float64
	for i := range full {
		heap = max(heap, (full[i].Heap-empty[i].Heap)/float64(t.offsets()))
		resident = max(resident, (full[i].Resident-empty[i].Resident)/float64(t.offsets()))
	}
	row("memory a queue (4 to a topic of a group), Go heap", "%.0f bytes", heap)
	row("memory a queue, process, garbage of the import included", "%.0f bytes", resident)
}
