package offsetfile

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// ReadPath reads the file at path, or the one file that Find gives for a
// folder. The error names the file.
func ReadPath(path string, o Options) (*File, error) {
	list, err := Find(path)
	if err != nil {
		return nil, err
	}
	if len(list) > 1 {
		return nil, offset.Errorf(offset.ErrInvalid, "the folder %q holds %d files of offsets, among them %q and %q; give the path of one", path, len(list), list[0].Path, list[1].Path)
	}
	return list[0].Read(o)
}

// Read reads the file; what its place says of it counts where o does not say
// it. The error names the file.
func (s *Source) Read(o Options) (*File, error) {
	if o.Broker == "" {
		o.Broker = s.Broker
	}
	if o.Group == "" {
		o.Group = s.Group
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, fmt.Errorf("opening the file to read: %w", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() && st.Mode()&fs.ModeNamedPipe == 0 {
		return nil, offset.Errorf(offset.ErrInvalid, "%q is neither a file nor a pipe", s.Path)
	}
	file, err := Read(f, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	if s.Note != "" {
		file.Report.Notes = append(file.Report.Notes, s.Note)
	}
	return file, nil
}

// Part is a file that is read together with others, and the name by which it
// is told.
type Part struct {
	Path string
	*File
}

// Join makes one file of several, whose report is empty but for its counts; of
// one it is that itself. Where two hold the same group, topic and broker nobody
// can tell which of them is right: that is refused, with an error that names
// both and wraps offset.ErrInvalid.
func Join(parts []Part) (*File, error) {
	if len(parts) == 1 {
		return parts[0].File, nil
	}
	type row struct {
		*Entry
		part int
	}
	var rows []row
	for i, p := range parts {
		for j := range p.Entries {
			rows = append(rows, row{&p.Entries[j], i})
		}
	}
	slices.SortFunc(rows, func(x, y row) int { return cmp.Or(x.Entry.compare(y.Entry), cmp.Compare(x.part, y.part)) })
	f := &File{Entries: make([]Entry, len(rows))}
	for i, r := range rows {
		if i > 0 && r.compare(rows[i-1].Entry) == 0 {
			return nil, offset.Errorf(offset.ErrInvalid, "group %q on topic %q of broker %q is in %s and in %s; import them one after the other, each broker's with a broker name of its own, each broadcasting consumer's with a --group of its own",
				clip([]byte(r.Group)), clip([]byte(r.Topic)), clip([]byte(r.Broker)), parts[rows[i-1].part].Path, parts[r.part].Path)
		}
		f.Entries[i] = *r.Entry
	}
	f.Report.Entries, f.Report.Offsets = len(f.Entries), f.Offsets()
	return f, nil
}
