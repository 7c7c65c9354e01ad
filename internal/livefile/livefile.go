// Package livefile keeps what is made of files current while a program runs:
// certificates, lists of tokens, policies. The files are read again at times,
// and what cannot be used never takes the place of what could.
//
// A change is taken once the same content was read twice in a row. So a file
// that is being written, or one of two that belong together, is not taken half
// done, however it is replaced: in place, by a rename, or by switching a link.
package livefile

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Every is how often Follow looks: a change is in use after twice that, or a
// little more.
const Every = time.Second

// maxBytes bounds each file.
const maxBytes = 4 << 20

// File is what Follow looks after.
type File interface {
	// Check reads the files again. changed: there is a new value. err: there is
	// new content that cannot be used, which is told once; the old value stays.
	Check() (changed bool, err error)
	// Fault is why what the files hold now is not in use; nil where it is.
	Fault() error
	// Paths are the files that the value is made of.
	Paths() []string
}

// Value is a T made of files. Get, Generation and Fault may be called from any
// goroutine at any time, and touch no disk.
type Value[T any] struct {
	paths []string
	parse func(contents [][]byte) (T, error)

	current    atomic.Pointer[T]
	generation atomic.Uint64
	fault      atomic.Pointer[error]

	mu sync.Mutex // guards what follows, and is held by Check
	// used is the sum of the content in use, seen of what was read last, and
	// judged of what was last found to be of no use.
	used, seen, judged [sha256.Size]byte
	// again is when the content in judged may be tried once more.
	again time.Time
}

// Open reads the files and makes the first value; parse is given their contents
// in the order of the paths.
func Open[T any](parse func(contents [][]byte) (T, error), paths ...string) (*Value[T], error) {
	v := &Value[T]{paths: paths, parse: parse}
	contents, sum, err := read(paths)
	if err != nil {
		return nil, err
	}
	value, err := parse(contents)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
	}
	v.current.Store(&value)
	v.used, v.seen = sum, sum
	return v, nil
}

// Get returns the value in use.
func (v *Value[T]) Get() T { return *v.current.Load() }

// Generation moves with each new value.
func (v *Value[T]) Generation() uint64 { return v.generation.Load() }

// Fault is why what the files hold now is not in use; nil where it is.
func (v *Value[T]) Fault() error {
	if p := v.fault.Load(); p != nil {
		return *p
	}
	return nil
}

// Paths are the files.
func (v *Value[T]) Paths() []string { return v.paths }

// Check is that of File.
func (v *Value[T]) Check() (changed bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	contents, sum, err := read(v.paths)
	settled := sum == v.seen
	v.seen = sum
	switch {
	case sum == v.used:
		v.fault.Store(nil)
		return false, nil
	case !settled, sum == v.judged && time.Now().Before(v.again):
		return false, nil
	}
	began := time.Now()
	var value T
	if err == nil {
		if value, err = v.parse(contents); err != nil {
			err = fmt.Errorf("%s: %w", strings.Join(v.paths, ", "), err)
		}
	}
	if err != nil {
		return false, v.refuse(sum, err, time.Since(began))
	}
	v.used, v.judged = sum, [sha256.Size]byte{}
	v.current.Store(&value)
	v.generation.Add(1)
	v.fault.Store(nil)
	return true, nil
}

// refuse notes that content is of no use, and gives what is to be told of it:
// nothing, if that was told. A certificate may only become valid, so that it is
// tried for ever, but that takes no more than a tenth of the time.
func (v *Value[T]) refuse(sum [sha256.Size]byte, fault error, took time.Duration) error {
	v.fault.Store(&fault)
	v.again = time.Now().Add(10 * took)
	if sum == v.judged {
		return nil
	}
	v.judged = sum
	return fault
}

// Follow checks the files every so often until ctx is done, and says what came
// of it. It blocks; said is called from its goroutine.
func Follow(ctx context.Context, every time.Duration, said func(f File, err error), files ...File) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, f := range files {
			if changed, err := f.Check(); changed || err != nil {
				said(f, err)
			}
		}
	}
}

// read gives the contents and their sum; a file that cannot be read has a sum
// of its own, so that it is told once.
func read(paths []string) (contents [][]byte, sum [sha256.Size]byte, fault error) {
	h := sha256.New()
	for _, path := range paths {
		b, err := readOne(path)
		if err != nil {
			fault = err
			b = []byte(err.Error())
		}
		contents = append(contents, b)
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	if fault != nil {
		h.Write([]byte("unreadable"))
	}
	return contents, [sha256.Size]byte(h.Sum(nil)), fault
}

func readOne(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(b) > maxBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxBytes)
	}
	return b, err
}
