package offsetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidemark-mq/tidemark/offset"
)

// Options say how a file is read. The zero value reads with the default rules.
type Options struct {
	// Broker is the broker name that the keys of a JSON file get, since the
	// file does not say it. A CSV file has a column for it, and it is not used.
	Broker string
	// Group is the group that the offsets of a broadcasting consumer's own file
	// get, since the file does not say it: without, such a file is refused.
	// With others it is not used.
	Group string
	// StrictNames also skips names that RocketMQ's own validators refuse.
	StrictNames bool
}

// Read reads a whole file; what it is shows its first bytes. The error is a
// *Fault, which wraps offset.ErrInvalid and names the place, or what r failed with.
func Read(r io.Reader, o Options) (*File, error) {
	if err := offset.ValidateName("broker", o.Broker, true); err != nil {
		return nil, err
	}
	if err := offset.ValidateName("group", o.Group, true); err != nil {
		return nil, err
	}
	count := &countingReader{r: r}
	s := newScanner(count)
	head, err := s.ahead(len(csvHead) + 3)
	if err != nil {
		return nil, err
	}
	if local, err := looksLocal(s); err != nil {
		return nil, err
	} else if local {
		return readLocalAs(s, count, o)
	}
	read := readJSON
	if bytes.HasPrefix(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte("group,")) {
		read = readCSV
	}
	f, err := read(s, o)
	if err != nil {
		return nil, err
	}
	f.Report.Bytes = count.n
	return f, nil
}

func readJSON(s *scanner, o Options) (*File, error) {
	notes, err := s.prologue()
	if err != nil {
		return nil, err
	}
	b := newBuilder(o, JSON)
	p := newParser(s, b)
	if err := p.file(); err != nil {
		return nil, err
	}
	f := b.done()
	f.Report.DataVersion = p.version
	f.Report.Notes = append(notes, p.notes...)
	return f, nil
}

func readCSV(s *scanner, o Options) (*File, error) {
	if b, err := s.ahead(3); err != nil {
		return nil, err
	} else if string(b) == "\xef\xbb\xbf" {
		s.pos += 3
	}
	c := &csvReader{scanner: s, b: newBuilder(o, CSV)}
	if err := c.file(); err != nil {
		return nil, err
	}
	return c.b.done(), nil
}

// fileName is the name that a broker gives the file.
const fileName = "consumerOffset.json"

// ReadPath reads the file at path. Of a broker's folder it takes
// consumerOffset.json, in it or in its config/; a folder that holds only the
// .bak is refused with what to do. The error names the file.
func ReadPath(path string, o Options) (*File, error) {
	path, err := locate(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the file to read: %w", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() && st.Mode()&fs.ModeNamedPipe == 0 {
		return nil, offset.Errorf(offset.ErrInvalid, "%q is neither a file nor a pipe", path)
	}
	file, err := Read(f, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// locate finds the file in a folder; another path is itself.
func locate(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("looking for the file to read: %w", err)
	}
	if !st.IsDir() {
		return path, nil
	}
	for _, dir := range []string{path, filepath.Join(path, "config")} {
		p := filepath.Join(dir, fileName)
		_, err := os.Stat(p)
		if err == nil {
			return p, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("looking for the file to read: %w", err)
		}
		if _, err := os.Stat(p + ".bak"); err == nil {
			return "", offset.Errorf(offset.ErrInvalid,
				"the folder %q holds no %s, only its older copy; check its age and, if that is what you want, give its path: %s", dir, fileName, p+".bak")
		}
	}
	return "", offset.Errorf(offset.ErrInvalid, "the folder %q holds no %s, nor does its config/; give the path of the file", path, fileName)
}
