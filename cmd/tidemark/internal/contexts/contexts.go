// Package contexts keeps the endpoints that an operator has saved under names,
// in a file of the user's own. Nothing else of this program is kept on disk.
//
// The file is replaced as a whole: a run that is killed leaves the old one or
// the new one. Two runs that change it at once do not mix; the later one wins.
package contexts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// Bounds of the file.
const (
	// MaxContexts is how many contexts are kept.
	MaxContexts = 1000
	// maxBytes is the largest file that is read.
	maxBytes = 4 << 20
)

// Context is where one cluster is reached.
type Context struct {
	Name string
	// Endpoints are API addresses, host:port; at least one.
	Endpoints []string
	// Credentials are how it is spoken to; the zero value is cleartext, as nobody.
	Credentials
}

// File is the content of the file. The zero value holds nothing.
type File struct {
	// current is the name of the context in use; empty: none.
	current string
	saved   map[string]entry
}

// format is how a File is written.
type format struct {
	Current  string           `json:"current,omitempty"`
	Contexts map[string]entry `json:"contexts"`
}

// Path is where the file is by default: tidemark/contexts.json in the user's
// folder for configuration.
func Path() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder for saved contexts: %w", err)
	}
	return filepath.Join(dir, "tidemark", "contexts.json"), nil
}

// Read reads the file at path; one that does not exist holds nothing. The error
// of one that is damaged wraps offset.ErrDamaged.
func Read(path string) (*File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the saved contexts: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBytes))
	if err != nil {
		return nil, fmt.Errorf("reading the saved contexts: %w", err)
	}
	c, err := parse(b)
	if err != nil {
		return nil, offset.Errorf(offset.ErrDamaged, "the saved contexts in %q: %v; correct the file, or remove it and add them anew", path, err)
	}
	return c, nil
}

func parse(b []byte) (*File, error) {
	var w format
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the end")
	}
	f := &File{saved: w.Contexts}
	for name, e := range w.Contexts {
		if err := validate(name, e.Endpoints); err != nil {
			return nil, err
		}
	}
	if w.Current != "" {
		if err := f.Use(w.Current); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func validate(name string, endpoints []string) error {
	if err := offset.ValidateName("context", name, false); err != nil {
		return err
	}
	if len(endpoints) == 0 {
		return offset.Errorf(offset.ErrInvalid, "context %q has no endpoint", name)
	}
	return nil
}

// Write replaces the file at path, which only its owner may read, and makes its
// folder if there is none.
func (f *File) Write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of the saved contexts: %w", err)
	}
	b, err := json.MarshalIndent(format{f.current, f.saved}, "", "  ")
	if err != nil {
		return fmt.Errorf("forming the saved contexts: %w", err)
	}
	err = offsetfile.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("saving the contexts: %w", err)
	}
	return nil
}

// List gives all contexts in the order of their names.
func (f *File) List() []Context {
	list := make([]Context, 0, len(f.saved))
	for _, name := range slices.Sorted(maps.Keys(f.saved)) {
		list = append(list, f.saved[name].context(name))
	}
	return list
}

// Current gives the name of the context in use; empty if there is none.
func (f *File) Current() string { return f.current }

// Get gives one context. The error of a name that is not there wraps offset.ErrNotFound.
func (f *File) Get(name string) (Context, error) {
	e, ok := f.saved[name]
	if !ok {
		return Context{}, offset.Errorf(offset.ErrNotFound, "no context is %q; `tidemark contexts list` shows them", name)
	}
	return e.context(name), nil
}

// Add saves a context, in the place of one of that name only if replace is set.
// Errors wrap offset.ErrInvalid or offset.ErrLimit.
func (f *File) Add(c Context, replace bool) error {
	if err := validate(c.Name, c.Endpoints); err != nil {
		return err
	}
	switch _, there := f.saved[c.Name]; {
	case there && !replace:
		return offset.Errorf(offset.ErrInvalid, "there is a context %q already; add --replace to put this one in its place", c.Name)
	case !there && len(f.saved) >= MaxContexts:
		return offset.Errorf(offset.ErrLimit, "%d contexts are saved, which is the most; remove one with `tidemark contexts remove`", MaxContexts)
	}
	if f.saved == nil {
		f.saved = map[string]entry{}
	}
	f.saved[c.Name] = entry{c.Endpoints, c.Credentials}
	return nil
}

// Use makes a context the current one; the empty name makes none current.
func (f *File) Use(name string) error {
	if name != "" {
		if _, err := f.Get(name); err != nil {
			return err
		}
	}
	f.current = name
	return nil
}

// Remove drops a context; if it was the current one, none is current any more.
func (f *File) Remove(name string) error {
	if _, err := f.Get(name); err != nil {
		return err
	}
	delete(f.saved, name)
	if f.current == name {
		f.current = ""
	}
	return nil
}
