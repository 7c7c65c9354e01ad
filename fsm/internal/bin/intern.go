package bin

// Bounds of each of the two generations of an Interner.
const (
	internNames = 1 << 16
	internBytes = 4 << 20
)

// Interner makes strings of bytes and gives the same string again for a name
// that it has seen lately. It keeps two generations: when the young one is
// full it becomes the old one, and what the old one held is let go.
type Interner struct {
	young, old map[string]string
	size       int // bytes of the names in young
}

// Intern returns a string that equals b and shares no memory with it.
func (in *Interner) Intern(b []byte) string {
	if s, ok := in.young[string(b)]; ok {
		return s
	}
	s, ok := in.old[string(b)]
	if !ok {
		s = string(b)
	}
	in.keep(s)
	return s
}

// keep puts s into the young generation.
func (in *Interner) keep(s string) {
	if len(in.young) >= internNames || in.size+len(s) > internBytes {
		in.young, in.old = in.old, in.young
		clear(in.young)
		in.size = 0
	}
	if in.young == nil {
		in.young = make(map[string]string)
	}
	in.young[s] = s
	in.size += len(s)
}
