package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// tokenFile is a file of a token on a disk that hangs while gate is not nil.
type tokenFile struct {
	mu    sync.Mutex
	token string
	gate  chan struct{}
	reads atomic.Int32
	// most is how many read at once.
	at, most int
}

func (f *tokenFile) read() (string, error) {
	f.reads.Add(1)
	f.mu.Lock()
	token, gate := f.token, f.gate
	f.at++
	f.most = max(f.most, f.at)
	f.mu.Unlock()
	if gate != nil {
		<-gate
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at--
	if token == "" {
		return "", errors.New("no token")
	}
	return token, nil
}

// atOnce is how many have read at once.
func (f *tokenFile) atOnce() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most
}

// hang makes reads hang until the test ends.
func (f *tokenFile) hang(t *testing.T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gate = make(chan struct{})
	t.Cleanup(func() { close(f.gate) })
}

// shownBy makes a Client show the token of the file.
func (f *tokenFile) shownBy(s *settings) {
	t := newFileToken("")
	t.latest.read = f.read
	s.token, s.insecureToken = t.token, true
}

// calls are one over the stream and one that is a request of its own.
func calls(cl *Client) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"fetch":  func(ctx context.Context) error { _, _, err := cl.Fetch(ctx, offset.ReadAt{}, key(0)); return err },
		"status": func(ctx context.Context) error { _, err := cl.Status(ctx, "a:1"); return err },
		"list":   func(ctx context.Context) error { _, err := cl.List(ctx, offset.List{}); return err },
	}
}

// A disk that does not answer when the token is read holds up no call beyond its
// context, and no Close.
func TestCallsDoNotWaitForTheDiskOfATokenFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		file := &tokenFile{token: "t"}
		file.hang(t)
		cl := f.client(file.shownBy)
		for what, call := range calls(cl) {
			if err := within300(t, what, call); !errors.Is(err, offset.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", what, err)
			}
		}
		began := time.Now()
		_ = cl.Close()
		if took := time.Since(began); took != 0 {
			t.Errorf("Close took %s", took)
		}
		if n := file.atOnce(); n != 1 {
			t.Errorf("%d read at once", n)
		}
	})
}

// What the file held before is used while the disk does not answer.
func TestATokenStaysInUseWhileItsDiskHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		file := &tokenFile{token: "t"}
		cl := f.client(file.shownBy)
		for round := range 2 {
			for what, call := range calls(cl) {
				if err := call(within(t, 2*latestWait)); err != nil {
					t.Errorf("round %d: %s: %v", round, what, err)
				}
			}
			if round == 0 {
				file.hang(t)
			}
			f.kill("a:1") // the next call opens another connection
			f.start("a:1")
			time.Sleep(3 * time.Second)
		}
		if n := file.atOnce(); n != 1 {
			t.Errorf("%d read at once", n)
		}
	})
}

// A caller that wants a token as it is now does not get what was read before that.
func TestATokenIsReadAnewWhereThatIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &tokenFile{token: "old", gate: make(chan struct{})}
		l := latest[string]{read: file.read}
		first := background(func() error { _, err := l.get(t.Context(), false); return err })
		synctest.Wait()
		file.mu.Lock()
		file.token = "new"
		file.mu.Unlock()
		got := make(chan string, 1)
		go func() { token, _ := l.get(t.Context(), true); got <- token }()
		synctest.Wait()
		close(file.gate)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if token := <-got; token != "new" {
			t.Errorf("the token is %q", token)
		}
		before := file.reads.Load()
		for range 5 {
			if token, err := l.get(t.Context(), false); token != "new" || err != nil {
				t.Errorf("%q, %v", token, err)
			}
		}
		if n := file.reads.Load() - before; n != 0 {
			t.Errorf("it was read %d times more", n)
		}
	})
}

// A file that cannot be read is tried again, and does not take away what was there.
func TestATokenThatCannotBeReadTakesNothingAway(t *testing.T) {
	file := &tokenFile{}
	l := latest[string]{read: file.read}
	if token, err := l.get(t.Context(), false); err == nil {
		t.Errorf("the token is %q", token)
	}
	for _, token := range []string{"t", ""} {
		file.token = token
		if token, err := l.get(t.Context(), true); token != "t" || err != nil {
			t.Errorf("%q, %v", token, err)
		}
	}
}
