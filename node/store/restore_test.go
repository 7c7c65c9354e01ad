package store

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestStartOverDamagedData starts raft where the newest snapshot's data, which
// Open does not read, is damaged. With the log it starts from the older one, and
// reaches the same state; without, it does not start. The library alone would
// start from the older one in both cases, and panic at the first commit.
func TestStartOverDamagedData(t *testing.T) {
	state := func(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
	for _, logKept := range []bool{true, false} {
		t.Run(map[bool]string{true: "log kept", false: "log compacted"}[logKept], func(t *testing.T) {
			dir := storeDir(t)
			s := open(t, Config{Dir: dir})
			bootstrapped(t, s) // entries 2 to 50 are commands
			snapshot(t, s, 30, 5, state(29))
			newest := snapshot(t, s, 45, 5, state(44))
			if !logKept {
				must(t, s.Log().DeleteRange(1, 40))
			}
			flip(t, filepath.Join(snapshotsDir(dir), newest, dataName), 3)
			s = again(t, s, Config{Dir: dir})
			f, err := newFollower(s)
			if err == nil {
				defer f.stop()
			}
			if damage := s.Damage(); !errors.Is(damage, offset.ErrDamaged) || !strings.Contains(damage.Error(), newest) {
				t.Errorf("store says %v", damage)
			}
			if logKept != (err == nil) {
				t.Fatalf("raft's start gave %v", err)
			}
			if !logKept {
				return
			}
			if f.fsm.n != 29 {
				t.Errorf("restored to %d", f.fsm.n)
			}
			commit(t, f, 51)
			await(t, "the log to be applied", func() bool {
				f.fsm.mu.Lock()
				defer f.fsm.mu.Unlock()
				return f.fsm.n == 50
			})
		})
	}
}
