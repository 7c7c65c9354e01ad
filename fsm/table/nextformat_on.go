//go:build nextformat

package table

// Later is what the state holds from format level 2 on.
type Later struct {
	// Counted is how many checkpoints were counted.
	Counted uint64
}

// digest leaves a state of level 1 as other builds have it.
func (l Later) digest(e encoding) encoding {
	if l == (Later{}) {
		return e
	}
	return e.u64(l.Counted)
}

// Count counts a checkpoint.
func (t *Table) Count() { t.later.Counted++ }
