package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/raft"
)

// SnapshotInfo is one snapshot on a disk.
type SnapshotInfo struct {
	// Path is its folder.
	Path string
	// Meta is what raft knows of it; only ID, Index and Term, from the folder's
	// name, where Err is set.
	Meta raft.SnapshotMeta
	// Err says what is wrong with it, nil if nothing is known to be. The data's
	// checksum is not read here.
	Err error
}

// snapshotName makes the name of a snapshot's folder. Index and term are in it,
// so that a snapshot that can't be read is still known to have been there. The
// number orders those of one index by age: a leader may install one again.
func snapshotName(index, term uint64, number uint32) string {
	return fmt.Sprintf("%020d-%020d-%08x", index, term, number)
}

// makeSnapshotDir makes the folder for a new snapshot, under a name that ends in
// .tmp, and returns the name without that.
func makeSnapshotDir(dir string, index, term uint64) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	number := uint32(0)
	prefix := strings.TrimSuffix(snapshotName(index, term, 0), "00000000")
	for _, e := range entries {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), tmpSuffix), prefix)
		if n, err := strconv.ParseUint(rest, 16, 32); ok && err == nil {
			number = max(number, uint32(n)+1)
		}
	}
	name := snapshotName(index, term, number)
	return name, os.Mkdir(filepath.Join(dir, name+tmpSuffix), folderMode)
}

var snapshotPattern = regexp.MustCompile(`^(\d{20})-(\d{20})-[0-9a-f]{8}$`)

func parseSnapshotName(name string) (index, term uint64, ok bool) {
	m := snapshotPattern.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	index, ierr := strconv.ParseUint(m[1], 10, 64)
	term, terr := strconv.ParseUint(m[2], 10, 64)
	return index, term, ierr == nil && terr == nil
}

// scanSnapshots lists the snapshots in a folder, newest first.
//
// Newest is the highest index. Snapshots hold committed entries only, and in one
// history the term never falls with the index, so ordering by term first, as the
// library does, can differ only where two histories are mixed (see checkHistory);
// there it would throw the longer one away.
func scanSnapshots(dir string) ([]SnapshotInfo, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("listing snapshots: %w", err)
	}
	var infos []SnapshotInfo
	for _, e := range entries {
		index, term, ok := parseSnapshotName(e.Name())
		if !ok || !e.IsDir() {
			continue
		}
		infos = append(infos, inspectSnapshot(dir, e.Name(), index, term))
	}
	slices.SortFunc(infos, func(a, b SnapshotInfo) int {
		return -cmp.Or(cmp.Compare(a.Meta.Index, b.Meta.Index), cmp.Compare(a.Meta.Term, b.Meta.Term),
			strings.Compare(a.Meta.ID, b.Meta.ID))
	})
	return infos, nil
}

func inspectSnapshot(dir, name string, index, term uint64) SnapshotInfo {
	info := SnapshotInfo{
		Path: filepath.Join(dir, name),
		Meta: raft.SnapshotMeta{Version: 1, ID: name, Index: index, Term: term},
	}
	m, err := readMeta(info.Path)
	switch {
	case err != nil:
		info.Err = err
	case m.Index != index || m.Term != term:
		info.Err = damaged(info.Path, "holds a snapshot of index %d, term %d", m.Index, m.Term)
	default:
		info.Meta = m.forRaft(name)
	}
	return info
}

// checkHistory returns an error where two snapshots cannot be of one history: a
// higher index with a lower term, or one index with two terms. Infos are as
// scanSnapshots sorts them.
func checkHistory(infos []SnapshotInfo) error {
	for i := 1; i < len(infos); i++ {
		newer, older := infos[i-1], infos[i]
		fork := newer.Meta.Index == older.Meta.Index && newer.Meta.Term != older.Meta.Term
		if newer.Meta.Term < older.Meta.Term || fork {
			return damaged(newer.Path, "index %d of term %d, beside index %d of term %d: snapshots of two clusters are mixed",
				newer.Meta.Index, newer.Meta.Term, older.Meta.Index, older.Meta.Term)
		}
	}
	return nil
}

// newestIndex returns the highest index of which a snapshot is known to have been
// there, readable or not.
func newestIndex(infos []SnapshotInfo, noted uint64) uint64 {
	for _, i := range infos {
		noted = max(noted, i.Meta.Index)
	}
	return noted
}

// usable reports whether a member may start from a state at index: if it is the
// newest there was, or the log leads on from it to that one at least. Starting
// from less would forget entries that this member has acknowledged.
func usable(index, newest uint64, entries *ledger) bool {
	return index >= newest || entries.reaches(index, newest)
}

// purge removes what unfinished snapshots have left.
func purge(dir string) (removed int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("listing snapshots: %w", err)
	}
	var errs []error
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), tmpSuffix)
		if _, _, ours := parseSnapshotName(name); !ok || !ours {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			errs = append(errs, fmt.Errorf("removing an unfinished snapshot: %w", err))
			continue
		}
		removed++
	}
	return removed, errors.Join(errs...)
}
