package table

import (
	"cmp"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// checkRest refuses what no table can hold. A table relies on it: what is let in
// here would make it fail later, at an entry, on every member that has the snapshot.
// The error wraps offset.ErrDamaged.
func checkRest(r *Rest) error {
	if err := checkActs(r); err != nil {
		return err
	}
	if len(r.Floors) > offset.MaxFloors || !slices.IsSortedFunc(r.Floors, func(a, b Floor) int { return cmp.Compare(a.Index, b.Index) }) {
		return offset.Errorf(offset.ErrDamaged, "%d floors are too many, or not in the order of their indexes", len(r.Floors))
	}
	seen := make(map[scope]bool, len(r.Floors))
	for _, f := range r.Floors {
		sc := scope{f.Topic, f.Name}
		if seen[sc] {
			return offset.Errorf(offset.ErrDamaged, "two floors of %q", f.Name)
		}
		seen[sc] = true
	}
	for i := 1; i < len(r.Members); i++ {
		if r.Members[i-1].ID >= r.Members[i].ID {
			return offset.Errorf(offset.ErrDamaged, "member %q is not behind %q", r.Members[i].ID, r.Members[i-1].ID)
		}
	}
	return nil
}

// checkActs: each act once, room for a further one, and the record of the import
// under way among them.
func checkActs(r *Rest) error {
	ids := make(map[offset.ActID]*ActRecord, len(r.Acts))
	underway := 0
	for i := range r.Acts {
		a := &r.Acts[i]
		ids[a.ID] = a
		if !a.Result.Done {
			underway++
		}
	}
	if !slices.IsSortedFunc(r.Acts, func(a, b ActRecord) int { return cmp.Compare(a.First, b.First) }) {
		return offset.Errorf(offset.ErrDamaged, "the acts are not in the order in which they began")
	}
	if len(ids) != len(r.Acts) || len(ids) > offset.MaxActs || underway > maxUnderway+1 {
		return offset.Errorf(offset.ErrDamaged, "%d acts, %d of them under way, are too many, or one is there twice", len(r.Acts), underway)
	}
	if i := r.Import; i != nil && (ids[i.ID] == nil || ids[i.ID].Result.Done) {
		return offset.Errorf(offset.ErrDamaged, "the import %s is under way, and no act", i.ID)
	}
	return nil
}
