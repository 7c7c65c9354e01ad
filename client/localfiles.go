package client

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// The names of the files: Java's, which are written, and Go's, which are read
// where Java's are not there.
const (
	localName   = "offsets.json"
	goLocalName = "offset.json"
	bakSuffix   = ".bak"
	// tempPattern names what is being written.
	tempPattern = "." + localName + ".*.tmp"
	// tempAge is when what a killed process left half written is deleted.
	tempAge = 10 * time.Minute
)

// localFiles is the folder of one consumer: offsets.json, and what it was
// before in offsets.json.bak.
type localFiles struct {
	dir string
	// goDirs are where the file of RocketMQ's Go client may be.
	goDirs []string
	disk   disk
	now    func() time.Time
	// most is how many bytes a file may have, at most offsetfile.MaxLocalBytes.
	most int64
}

// newLocalFiles gives the files of a consumer below a folder. RocketMQ's Go
// client has group and client id the other way round; a file of its own that
// was put next to ours comes before that.
func newLocalFiles(below, clientID, group string, set *storeSettings) localFiles {
	dir, other := filepath.Join(below, clientID, group), filepath.Join(below, group, clientID)
	return localFiles{dir, slices.Compact([]string{dir, other}), set.disk, set.clock.Now, offsetfile.MaxLocalBytes}
}

func (l *localFiles) path(name string) string { return filepath.Join(l.dir, name) }

// localFile is one file as it was found. It is good if err is nil and it is
// there; damaged if err is not nil.
type localFile struct {
	path    string
	there   bool
	data    []byte
	offsets map[offset.MessageQueue]int64
	err     error
}

func (f *localFile) good() bool { return f.there && f.err == nil }

// bytes reports whether there is something in a damaged file that must be kept.
func (f *localFile) bytes() bool { return f.err != nil && (f.data == nil || len(f.data) > 0) }

// unread reports whether the system did not give the file, so that it may be good.
func (f *localFile) unread() bool {
	fault := (*fs.PathError)(nil)
	return errors.As(f.err, &fault)
}

// look reads one file. One that can't be read is damaged: nothing is known of
// what is in it.
func (l *localFiles) look(path string) *localFile {
	f := &localFile{path: path}
	data, err := l.disk.read(f.path, l.most)
	if errors.Is(err, fs.ErrNotExist) {
		return f
	}
	f.there = true
	if err != nil {
		f.err = err
		return f
	}
	f.data = data
	local, err := offsetfile.ReadLocal(bytes.NewReader(data))
	if err != nil {
		f.err = err
		return f
	}
	f.offsets = local.Offsets
	return f
}

// pair is a file and its older copy.
type pair struct{ main, bak *localFile }

// pair reads a file and its older copy.
func (l *localFiles) pair(path string) pair { return pair{l.look(path), l.look(path + bakSuffix)} }

// goPair reads what RocketMQ's Go client has left.
func (l *localFiles) goPair() (p pair) {
	for _, dir := range l.goDirs {
		if p = l.pair(filepath.Join(dir, goLocalName)); !p.absent() {
			break
		}
	}
	return p
}

// absent reports whether neither is there.
func (p pair) absent() bool { return !p.main.there && !p.bak.there }

// state is the folder as it was found.
type state struct {
	ours pair
	// from is the file that counts; nil if there is none of any name.
	from *localFile
	// note says what is unusual about it; empty if nothing is.
	note string
}

// offsets gives what counts; the caller may change it.
func (s *state) offsets() map[offset.MessageQueue]int64 {
	if s.from == nil {
		return map[offset.MessageQueue]int64{}
	}
	return maps.Clone(s.from.offsets)
}

// state reads the folder. The error wraps offset.ErrDamaged: there are files,
// and none of them is good; nothing was changed.
func (l *localFiles) state() (*state, error) {
	s := &state{ours: l.pair(l.path(localName))}
	p := s.ours
	if p.absent() {
		p = l.goPair()
		s.note = fmt.Sprintf("the offsets come from %q, the file of RocketMQ's Go client; %q is written from now on", p.main.path, l.path(localName))
	}
	switch {
	case p.absent():
		s.note = ""
	case p.main.good():
		s.from = p.main
		if s.from == s.ours.main {
			s.note = l.newer(p)
		}
	case p.bak.good():
		s.from = p.bak
		s.note = fmt.Sprintf("the offsets come from the older copy %q, since %s; what was consumed last may be consumed again", p.bak.path, describeFile(p.main))
	default:
		return s, damaged(p)
	}
	return s, nil
}

// newer says that the file of RocketMQ's Go client was written after ours, and
// that a damaged older copy lies next to it.
func (l *localFiles) newer(p pair) string {
	if p.bak.bytes() {
		return fmt.Sprintf("the older copy is not good and will be moved aside: %s", describeFile(p.bak))
	}
	ours, err := l.disk.modified(p.main.path)
	if err != nil {
		return ""
	}
	for _, dir := range l.goDirs {
		path := filepath.Join(dir, goLocalName)
		if theirs, err := l.disk.modified(path); err == nil && theirs.After(ours) {
			return fmt.Sprintf("%q, the file of RocketMQ's Go client, is newer than %q and is not read; to continue from it, move ours away", path, p.main.path)
		}
	}
	return ""
}

// describeFile says what is wrong with a file.
func describeFile(f *localFile) string {
	if !f.there {
		return fmt.Sprintf("%q is not there", f.path)
	}
	var fault *offsetfile.Fault
	if errors.As(f.err, &fault) {
		return fmt.Sprintf("%q, %s", f.path, fault.Error())
	}
	return fmt.Sprintf("%q cannot be read: %v", f.path, f.err)
}

func damaged(p pair) error {
	return offset.Errorf(offset.ErrDamaged,
		"%s; %s; nothing was changed. Put a good copy into the place of one of them, or begin without offsets by WithDamageIgnored, which moves them aside",
		describeFile(p.main), describeFile(p.bak))
}

// damagedFiles lists the files of any name that are there and not good.
func (l *localFiles) damagedFiles() (list []*localFile) {
	paths := []string{l.path(localName)}
	for _, dir := range l.goDirs {
		paths = append(paths, filepath.Join(dir, goLocalName))
	}
	for _, path := range paths {
		p := l.pair(path)
		for _, f := range []*localFile{p.main, p.bak} {
			if f.err != nil {
				list = append(list, f)
			}
		}
	}
	return list
}

// aside renames a file, so that its bytes are kept, and gives its new name.
func (l *localFiles) aside(f *localFile) (string, error) {
	base := f.path + ".damaged-" + l.now().UTC().Format("20060102T150405.000Z")
	to := base
	for n := 2; ; n++ {
		_, err := l.disk.modified(to)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil || n > 1000 {
			return "", fmt.Errorf("looking for a free name next to %q: %w", f.path, err)
		}
		to = fmt.Sprintf("%s-%d", base, n)
	}
	if err := l.disk.rename(f.path, to); err != nil {
		return "", fmt.Errorf("moving the damaged file aside: %w", err)
	}
	return to, nil
}

// replace makes offsets the content of offsets.json, and what was good there
// before that of the .bak, so that at every moment one of the two is good. A
// damaged file is moved aside. DESIGN.md has the order and why.
func (l *localFiles) replace(s *state, offsets map[offset.MessageQueue]int64) (err error) {
	var b bytes.Buffer
	if err := offsetfile.WriteLocal(&b, offsets); err != nil {
		return err
	}
	if int64(b.Len()) > l.most {
		return offset.Errorf(offset.ErrLimit, "the file of offsets would have %d bytes; at most %d are written", b.Len(), l.most)
	}
	if err := makeDirs(l.disk, l.dir); err != nil {
		return err
	}
	var temps []string
	defer func() {
		if err != nil {
			for _, name := range temps {
				_ = l.disk.remove(name)
			}
		}
	}()
	write := func(data []byte) (string, error) {
		name, err := writeNew(l.disk, l.dir, tempPattern, data)
		if name != "" {
			temps = append(temps, name)
		}
		return name, err
	}
	next, err := write(b.Bytes())
	if err != nil {
		return err
	}
	before := ""
	if s.ours.main.good() {
		if before, err = write(s.ours.main.data); err != nil {
			return err
		}
	}
	return l.swap(s, next, before)
}

// swap gives two written files their names; before is empty if there is nothing to keep.
func (l *localFiles) swap(s *state, next, before string) error {
	for _, f := range []*localFile{s.ours.bak, s.ours.main} {
		if f.bytes() {
			if _, err := l.aside(f); err != nil {
				return err
			}
		}
	}
	if before != "" {
		if err := l.disk.rename(before, s.ours.bak.path); err != nil {
			return fmt.Errorf("replacing the older copy: %w", err)
		}
	}
	if err := l.disk.rename(next, s.ours.main.path); err != nil {
		return fmt.Errorf("replacing the file: %w", err)
	}
	if err := l.disk.syncDir(l.dir); err != nil {
		return offset.Errorf(offset.ErrOutcomeUnknown, "the new file is there but may not survive a loss of power: syncing the folder: %v", err)
	}
	return nil
}

// sweep deletes what killed processes left half written.
func (l *localFiles) sweep() {
	list, _ := l.disk.list(l.dir)
	for _, name := range list {
		if ours, err := filepath.Match(tempPattern, name); err != nil || !ours {
			continue
		}
		name = l.path(name)
		if at, err := l.disk.modified(name); err == nil && l.now().Sub(at) > tempAge {
			_ = l.disk.remove(name)
		}
	}
}
