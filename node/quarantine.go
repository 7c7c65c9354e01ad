package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// quarantineFile marks a data folder whose state differs from that of the
// majority. A member does not run raft over it; it is replaced by a new one.
const quarantineFile = "quarantine.json"

// quarantine is what the file says.
type quarantine struct {
	Checkpoint uint64 `json:"checkpoint"`
	Own        string `json:"own_digest"`
	Majority   string `json:"majority_digest"`
	// unwritten: the folder is not marked yet, and a start would run raft again.
	unwritten bool
}

// The times between two tries to write a mark, doubled from one to the next.
const (
	markPause     = time.Second
	markMostPause = time.Minute
)

// Error says what is wrong and the way out.
func (q *quarantine) Error() string {
	return fmt.Sprintf("this member's state differs from the majority's at checkpoint %d (digest %s, the others %s); its files are kept for study: remove it from the cluster (`tidemark cluster remove`), and start it with an empty data folder", q.Checkpoint, q.Own, q.Majority)
}

// giveUp puts this member under quarantine and ends its raft. It stays in the
// configuration, so that the others need their majority without it.
func (r *replica) giveUp(index uint64, own, majority offset.Digest) {
	q := &quarantine{Checkpoint: index, Own: own.String(), Majority: majority.String()}
	if err := writeQuarantine(r.config.Dir, q); err != nil {
		r.config.Logger.Error("the mark of the quarantine could not be written; it is tried again", "error", err)
		q.unwritten = true
	}
	r.fail(q)
}

// mark writes the mark until that succeeds, once more when ctx ends.
func (n *Node) mark(ctx context.Context, q *quarantine) {
	for wait, last := markPause, false; q.unwritten && !last; wait = min(2*wait, markMostPause) {
		pause(ctx, wait)
		last = ctx.Err() != nil
		if err := writeQuarantine(n.config.Dir, q); err != nil {
			n.config.Logger.Error("the mark of the quarantine could not be written; without it a start runs this member again", "error", err)
			continue
		}
		q.unwritten = false
		n.config.Logger.Info("the mark of the quarantine is written")
	}
}

func writeQuarantine(dir string, q *quarantine) error {
	data, err := json.MarshalIndent(q, "", "  ")
	if err != nil {
		return err
	}
	return store.ReplaceFile(filepath.Join(dir, quarantineFile), append(data, '\n'))
}

// readQuarantine returns nil if the folder is not marked. A mark that cannot
// be read is a mark.
func readQuarantine(dir string) (*quarantine, error) {
	path := filepath.Join(dir, quarantineFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the mark of a quarantine: %w", err)
	}
	q := new(quarantine)
	if err := json.Unmarshal(data, q); err != nil {
		return nil, offset.Errorf(offset.ErrDamaged, "%s: %v; the folder is under quarantine: remove the member and start it with an empty data folder", path, err)
	}
	return q, nil
}
