package offsetfile

import (
	"io"
	"iter"

	"github.com/tidemark-mq/tidemark/offset"
)

// WriteJSON writes targets as a consumerOffset.json that RocketMQ reads.
// Targets come in the order of offset.Key.Compare and of one broker; the file
// has no place for a broker's name. With base, the bytes of an earlier file,
// what targets does not hold stays as it was there, negative offsets included.
func WriteJSON(w io.Writer, targets iter.Seq[offset.Target], base io.Reader) error {
	return offset.Errorf(offset.ErrInvalid, "writing offset files is not built yet")
}

// WriteCSV writes targets, of any number of brokers, as CSV with a head line.
func WriteCSV(w io.Writer, targets iter.Seq[offset.Target]) error {
	return offset.Errorf(offset.ErrInvalid, "writing offset files is not built yet")
}

// WriteFile replaces the file at path by what write writes, or leaves it as it
// was: beside, fsync, rename, fsync of the folder. The file's mode is 0600.
func WriteFile(path string, write func(io.Writer) error) error {
	return offset.Errorf(offset.ErrInvalid, "writing offset files is not built yet")
}
