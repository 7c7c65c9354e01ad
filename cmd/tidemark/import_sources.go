package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// fileResult is one file of an import.
type fileResult struct {
	File string `json:"file"`
	// Broker is the name that its keys got; empty too where the file names the
	// broker of each offset.
	Broker string            `json:"broker"`
	Report offsetfile.Report `json:"report"`
}

// listed is how many skipped places are shown to people; json has more.
const listed = 100

func (r *fileResult) table(t *table) {
	rep := &r.Report
	t.line("%s: %s of %s", shown(r.File), plural(rep.Offsets, "offset", "offsets"), plural(rep.Entries, "entry (topic@group)", "entries (topic@group)"))
	if v := rep.DataVersion; v != nil {
		t.line("dataVersion: counter %d, written %s", v.Counter, when(v.Timestamp))
	}
	for _, n := range rep.Notes {
		t.line("note: %s", n)
	}
	skippedTable(t, rep.Skipped, rep.SkippedTotal)
}

// read finds and reads the files, each whole, and says of each what it is taken
// for. It returns them as one.
func (c *importCmd) read(s *session) (*offsetfile.File, *importResult, error) {
	sources, err := c.sources()
	if err != nil {
		return nil, nil, err
	}
	r := &importResult{Mode: "merge", Group: c.Group}
	if c.Replace {
		r.Mode = "replace"
	}
	var parts []offsetfile.Part
	for i := range sources {
		if addr, live := liveAddr(sources[i].Path); live {
			if err := c.readLive(s, addr, sources[i].Broker, &parts, r); err != nil {
				return nil, nil, err
			}
			continue
		}
		f, err := c.readOne(s, &sources[i])
		if err != nil {
			return nil, nil, err
		}
		f = c.ofInterest(f, r)
		parts = append(parts, offsetfile.Part{Path: sources[i].Path, File: f})
		r.Files = append(r.Files, fileResult{sources[i].Path, sources[i].Broker, f.Report})
		r.Skipped += f.Report.SkippedTotal
	}
	f, err := offsetfile.Join(parts)
	if err != nil {
		return nil, nil, err
	}
	r.Entries, r.Offsets = f.Report.Entries, f.Report.Offsets
	if r.Entries == 0 && r.others > 0 && !c.Replace {
		return nil, nil, offset.Errorf(offset.ErrNotFound, "what was read has nothing of group %s, but %s of others; look at it without --group", shown(c.Group), plural(r.others, "entry (topic@group)", "entries (topic@group)"))
	}
	return f, r, nil
}

// ofInterest is what a file has of --group, or all of it; the result counts
// what was left out.
func (c *importCmd) ofInterest(f *offsetfile.File, r *importResult) *offsetfile.File {
	if c.Group == "" {
		return f
	}
	part := f.OfGroup(c.Group)
	r.others += len(f.Entries) - len(part.Entries)
	return part
}

// sources are the files that the arguments stand for.
func (c *importCmd) sources() (list []offsetfile.Source, err error) {
	if err := offset.ValidateName("--group", c.Group, true); err != nil {
		return nil, err
	}
	for _, arg := range c.Files {
		broker, path := named(arg)
		if _, live := liveAddr(path); live {
			list = append(list, offsetfile.Source{Path: path, Broker: broker})
			continue
		}
		found, err := offsetfile.Find(path)
		if err != nil {
			return nil, err
		}
		if broker != "" && len(found) > 1 {
			return nil, offset.Errorf(offset.ErrInvalid, "%q holds %d files, and %q is the broker of one; name each as BROKER=FILE", path, len(found), broker)
		}
		if broker != "" {
			found[0].Broker = broker
		}
		list = append(list, found...)
	}
	if c.Broker != "" {
		if len(list) > 1 {
			return nil, offset.Errorf(offset.ErrInvalid, "--broker names the broker of one file, and there are %d; name each as BROKER=FILE, or put each into a folder with the broker's name", len(list))
		}
		list[0].Broker = c.Broker
	}
	if len(list) == 1 || c.Group == "" {
		return list, nil
	}
	return c.ofGroup(list)
}

// ofGroup leaves out files that by their place are of another group.
func (c *importCmd) ofGroup(list []offsetfile.Source) (kept []offsetfile.Source, err error) {
	for _, x := range list {
		if x.Group == "" || x.Group == c.Group {
			kept = append(kept, x)
		}
	}
	if len(kept) == 0 {
		return nil, offset.Errorf(offset.ErrNotFound, "none of the %d files is of group %q", len(list), c.Group)
	}
	return kept, nil
}

// named parts BROKER=FILE. A file that is there under the whole of it is a file.
func named(arg string) (broker, path string) {
	broker, path, ok := strings.Cut(arg, "=")
	if _, err := os.Lstat(arg); !ok || err == nil {
		return "", arg
	}
	return broker, path
}

// readOne reads a file, or refuses it.
func (c *importCmd) readOne(s *session, src *offsetfile.Source) (*offsetfile.File, error) {
	o := offsetfile.Options{Group: c.Group, StrictNames: c.StrictNames}
	if c.Format != "auto" {
		o.Format = offsetfile.Format(c.Format)
	}
	f, err := src.Read(o)
	if err != nil {
		return nil, err
	}
	form := f.Report.Format
	if !form.Brokerless() && src.Broker != "" {
		return nil, offset.Errorf(offset.ErrInvalid, "%s: this file names the broker of each offset; leave --broker out", src.Path)
	}
	s.note("%s is read as %s", shown(src.Path), taken(form, src, o.Format == ""))
	return f, nil
}

// taken says what a file is taken for.
func taken(form offsetfile.Format, src *offsetfile.Source, detected bool) string {
	text := string(form)
	if form.Brokerless() {
		if src.Broker == "" {
			text += ", without a broker name (--broker)"
		} else {
			text += fmt.Sprintf(", of broker %q", src.Broker)
		}
	}
	if src.Group != "" && form.Groupless() {
		text += fmt.Sprintf(", of group %q by its folder", src.Group)
	}
	if detected {
		text += " (--format overrules)"
	}
	return text
}
