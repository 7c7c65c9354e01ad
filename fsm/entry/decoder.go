package entry

import "github.com/tidemark-mq/tidemark/offset"

// Decoder decodes entries one after another and reuses its memory. The zero
// value is ready. It belongs to one goroutine.
type Decoder struct{}

// Decode reads one entry. Nothing in the result points into data. The Entry,
// and all that hangs on it but for strings, is valid until the next Decode;
// strings are real ones and may be kept for ever.
//
// An error wraps offset.ErrLevel if the entry is of a level, or has a kind or
// flag, that this build does not know, and offset.ErrDamaged if it is not an
// entry or breaks a bound. Nothing is decoded by half.
func (d *Decoder) Decode(data []byte) (*Entry, error) { return nil, offset.ErrDamaged }
