package peer

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
)

// hang makes n2 take commits and not answer; it tells how many it took.
func hang(n2 *node) (taken func() int) {
	var mu sync.Mutex
	n := 0
	n2.fake.commit = func(ctx context.Context, _ auth.Principal, _ *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
		mu.Lock()
		n++
		mu.Unlock()
		<-ctx.Done()
		return nil, offset.Meta{}, ctx.Err()
	}
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

var one = &offset.Commits{Cluster: clusterA, Topics: []offset.TopicCommits{{Group: "g", Topic: "t", Queues: []offset.QueueCommit{{Epoch: 1}}}}}

func TestSentAndNotAnsweredIsUnknown(t *testing.T) {
	for name, fault := range map[string]func(network interface {
		Cut(a, b string)
		Reset(a, b string)
	}, n2 *node){
		"deadline passes": nil,
		"link is cut": func(n interface {
			Cut(a, b string)
			Reset(a, b string)
		}, _ *node) {
			n.Cut("n2", "n1")
		},
		"connection is reset": func(n interface {
			Cut(a, b string)
			Reset(a, b string)
		}, _ *node) {
			n.Reset("n1", "n2")
		},
		"callee stops": func(_ interface {
			Cut(a, b string)
			Reset(a, b string)
		}, n2 *node) {
			n2.stop()
		},
		"callee dies": func(_ interface {
			Cut(a, b string)
			Reset(a, b string)
		}, n2 *node) {
			n2.kill()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := newNetwork(t)
				n1, n2 := start(t, network, "n1"), start(t, network, "n2")
				taken := hang(n2)
				var calling sync.WaitGroup
				begin := time.Now()
				calling.Go(func() {
					_, _, err := n1.To("n2/1", "n2:7412").Commit(within(t, 20*time.Second), someone, one)
					if !errors.Is(err, offset.ErrOutcomeUnknown) || offset.OutcomeOf(err) != offset.Unknown {
						t.Errorf("want an unknown outcome: %v", err)
					}
				})
				synctest.Wait()
				if taken() != 1 {
					t.Fatalf("%d commits were taken", taken())
				}
				if fault != nil {
					fault(network, n2)
				}
				calling.Wait()
				if taken() != 1 {
					t.Errorf("the commit was sent %d times", taken())
				}
				most := 20 * time.Second
				if name == "link is cut" {
					most = 2 * time.Second // two keep-alives
				} else if fault != nil {
					most = time.Second
				}
				if took := time.Since(begin); took > most {
					t.Errorf("told after %v", took)
				}
			})
		})
	}
}

func TestNeverSentIsUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n1, n2 := start(t, network, "n1"), start(t, network, "n2")
		taken := hang(n2)
		r := n1.To("n2/1", "n2:7412")
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		for range 2 { // without a connection, and with one
			_, _, err := r.Commit(ended, someone, one)
			if !errors.Is(err, offset.ErrUnreachable) || !errors.Is(err, context.Canceled) || offset.OutcomeOf(err) != offset.NotDone {
				t.Errorf("a context that had ended: %v", err)
			}
			if _, err := r.ReadIndex(within(t, time.Second)); !errors.Is(err, offset.ErrNotReady) {
				t.Fatal(err)
			}
		}
		if taken() != 0 {
			t.Errorf("%d commits arrived", taken())
		}
	})
}

// A connection that died while nobody called is replaced: the next call is
// answered, and not taken for unknown.
func TestConnectionIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n1, n2 := start(t, network, "n1"), start(t, network, "n2")
		r := n1.To("n2/1", "n2:7412")
		answers := func(n *node, i uint64) {
			n.fake.readIndex = func(context.Context) (uint64, error) { return i, nil }
		}
		ask := func(want uint64) {
			t.Helper()
			if i, err := r.ReadIndex(within(t, 3*time.Second)); i != want || err != nil {
				t.Fatalf("%d %v, want %d", i, err, want)
			}
		}
		answers(n2, 1)
		ask(1)
		network.Reset("n1", "n2")
		synctest.Wait()
		ask(1)
		n2.kill()
		synctest.Wait()
		if _, err := r.ReadIndex(within(t, time.Second)); !errors.Is(err, offset.ErrUnreachable) {
			t.Errorf("nobody is there: %v", err)
		}
		n2 = start(t, network, "n2")
		answers(n2, 2)
		ask(2)
		network.Cut("n2", "n1") // silence, found by the keep-alive
		time.Sleep(3 * time.Second)
		network.HealAll()
		ask(2)
	})
}

func TestMalformedAnswerToAChangeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n2, r := pair(t)
		n2.fake.commit = func(context.Context, auth.Principal, *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
			return make([]offset.Verdict, 2), someMeta, nil // for one commit
		}
		_, _, err := r.Commit(within(t, time.Second), someone, one)
		if !errors.Is(err, offset.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "2 offsets for 1 commits") {
			t.Errorf("commit: %v", err)
		}
		n2.fake.set = func(context.Context, auth.Principal, *offset.Set) (offset.Verdict, offset.Meta, error) {
			return offset.Verdict{State: offset.KeyState{Exists: true, Position: offset.Position{Offset: -1}}}, someMeta, nil
		}
		_, _, err = r.Set(within(t, time.Second), someone, &offset.Set{Key: someKey, Cluster: clusterA})
		if !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Errorf("set: %v", err)
		}
	})
}

func TestErrorsTravel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n2, r := pair(t)
		for code := offset.CodeInvalid; code <= offset.CodeUnreachable; code++ {
			n2.fake.readIndex = func(context.Context) (uint64, error) {
				return 0, &offset.Error{Err: code.Err(), Text: "because", Leader: "n3:7411"}
			}
			_, err := r.ReadIndex(within(t, time.Second))
			var e *offset.Error
			if !errors.Is(err, code.Err()) || !errors.As(err, &e) || e.Leader != "n3:7411" || e.Text != "because" {
				t.Errorf("code %d: %v", code, err)
			}
		}
	})
}

func TestPoolIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n1 := start(t, network, "n1")
		n2 := start(t, network, "n2")
		n2.fake.readIndex = func(context.Context) (uint64, error) { return 1, nil }
		first := n1.To("n2/1", "n2:7412")
		if _, err := first.ReadIndex(within(t, time.Second)); err != nil {
			t.Fatal(err)
		}
		for i := range 3 * maxRemotes {
			n1.To(strings.Repeat("x", i+1), "n3:7412")
		}
		if got := len(n1.remotes); got > maxRemotes {
			t.Errorf("%d are kept", got)
		}
		if again := n1.To("n2/1", "n2:1"); again == first {
			t.Error("another address gives the old connection")
		}
		synctest.Wait()
		if open := network.Conns(); open != 0 {
			t.Errorf("%d connections stay", open)
		}
	})
}
