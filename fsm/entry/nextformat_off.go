//go:build !nextformat

package entry

// Later is what can be asked for from format level 2 on: nothing yet. A build
// with the tag nextformat has something here.
type Later struct{}

func (Later) asked() bool { return false }

// later appends a request of a later level.
func (b *Builder) later(*Request) error { return invalid("the request asks for nothing") }

// later reads a request of a kind that level 1 does not have.
func (d *decoder) later(_ *Request, first byte) { d.Unknown("kind %d of request", first&kindMask) }
