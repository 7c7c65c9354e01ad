//go:build nextformat

package entry

// Later is what can be asked for from format level 2 on.
type Later struct {
	// Count asks for a checkpoint that the state counts.
	Count bool
}

const kindCount = 8

func (l Later) asked() bool { return l.Count }

// later appends a request of a later level.
func (b *Builder) later(r *Request) error {
	if b.level < 2 {
		return invalid("a counted checkpoint in an entry of level %d", b.level)
	}
	return b.head(r, kindCount, b.cluster)
}

// later reads a request of a kind that level 1 does not have.
func (d *decoder) later(r *Request, first byte) {
	if first&kindMask != kindCount || d.entry.Level < 2 {
		d.Unknown("kind %d of request", first&kindMask)
		return
	}
	d.flags(first, flagsOfAllOther)
	r.Later.Count = true
}
