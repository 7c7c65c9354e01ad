package offsetfile

import (
	"io"

	"github.com/tidemark-mq/tidemark/offset"
)

// Options say how a file is read. The zero value reads with the default rules.
type Options struct {
	// Broker is the broker name that the keys of a JSON file get, since the
	// file does not say it. A CSV file has a column for it.
	Broker string
	// StrictNames also skips names that RocketMQ's own validators refuse.
	StrictNames bool
}

// Read reads a whole file; what it is shows its first bytes. The error is a
// *Fault, which wraps offset.ErrInvalid and names the place, or what r failed with.
func Read(r io.Reader, o Options) (*File, error) {
	return nil, offset.Errorf(offset.ErrInvalid, "reading offset files is not built yet")
}

// ReadPath reads the file at path. Of a broker's folder it takes
// consumerOffset.json, in it or in its config/; a folder that holds only the
// .bak is refused with what to do.
func ReadPath(path string, o Options) (*File, error) {
	return nil, offset.Errorf(offset.ErrInvalid, "reading offset files is not built yet")
}
