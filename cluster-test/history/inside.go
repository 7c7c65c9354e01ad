package history

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
)

// scope stands for a test during one round: what is to be cleaned up is when the
// round ends, and what would fail the test is an error of the round instead.
type scope struct {
	testing.TB

	mu      sync.Mutex
	cleanup []func() // guarded by mu, as is err
	err     error
}

// inside runs f in a scope of its own and gives what it returned, or failed with.
func inside(tb testing.TB, f func(testing.TB) error) error {
	s := &scope{TB: tb}
	run := func(f func()) {
		done := make(chan struct{})
		go func() { // waited for below; Fatal ends it
			defer close(done)
			f()
		}()
		<-done
	}
	run(func() { s.fail(f(s)) })
	for len(s.cleanup) > 0 {
		last := s.cleanup[len(s.cleanup)-1]
		s.cleanup = s.cleanup[:len(s.cleanup)-1]
		run(last)
	}
	return s.err
}

func (s *scope) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errors.Join(s.err, err)
}

func (s *scope) Cleanup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanup = append(s.cleanup, f)
}

func (s *scope) TempDir() string {
	dir, err := os.MkdirTemp("", "tidemark-history-")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) }) // in the folder for temporary files
	return dir
}

func (s *scope) Failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}

func (s *scope) FailNow() {
	s.Fail()
	runtime.Goexit()
}

func (s *scope) Fail()                             { s.fail(errors.New("failed")) }
func (s *scope) Error(args ...any)                 { s.fail(errors.New(fmt.Sprint(args...))) }
func (s *scope) Errorf(format string, args ...any) { s.fail(fmt.Errorf(format, args...)) }

func (s *scope) Fatal(args ...any) {
	s.Error(args...)
	runtime.Goexit()
}

func (s *scope) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	runtime.Goexit()
}
