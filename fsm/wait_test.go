package fsm

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
)

func TestWaitEndsWhenItsIndexIsPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Config{Cluster: testCluster})
		var mu sync.Mutex
		woken := map[uint64]int{}
		for i := range uint64(200) {
			go func() {
				index := 1 + i%50
				if err := f.Wait(t.Context(), index); err != nil {
					t.Errorf("waiting for %d: %v", index, err)
				}
				if f.Index() < index {
					t.Errorf("woken at %d, waiting for %d", f.Index(), index)
				}
				mu.Lock()
				defer mu.Unlock()
				woken[index]++
			}()
		}
		for _, index := range []uint64{3, 4, 20, 50} {
			synctest.Wait()
			f.Apply(sealed(t, index, commit("g", 1)))
			synctest.Wait()
			mu.Lock()
			if len(woken) != int(index) || woken[index] != 4 {
				t.Errorf("at %d those of %d indexes are woken", index, len(woken))
			}
			mu.Unlock()
		}
		if f.waiters.count.Load() != 0 || len(f.waiters.heap) != 0 {
			t.Errorf("%d waiters are left", len(f.waiters.heap))
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Config{Cluster: testCluster})
		cause := errors.New("enough")
		var cancels []context.CancelCauseFunc
		for i := range 50 {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancels = append(cancels, cancel)
			go func() {
				if err := f.Wait(ctx, uint64(1+i)); !errors.Is(err, cause) {
					t.Errorf("it ends with %v", err)
				}
			}()
		}
		synctest.Wait()
		rand.Shuffle(len(cancels), func(i, j int) { cancels[i], cancels[j] = cancels[j], cancels[i] })
		for _, c := range cancels {
			c(cause)
		}
		synctest.Wait()
		if len(f.waiters.heap) != 0 || f.waiters.count.Load() != 0 {
			t.Errorf("%d waiters are left", len(f.waiters.heap))
		}
	})
}

func TestWaitEndsWhenTheFSMLatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Config{Cluster: testCluster})
		cause := errors.New("broken")
		go func() {
			if err := f.Wait(t.Context(), 9); !errors.Is(err, cause) {
				t.Errorf("it ends with %v", err)
			}
		}()
		synctest.Wait()
		f.fail(4, cause)
		f.fail(5, errors.New("another"))
		synctest.Wait()
		if !errors.Is(f.Err(), cause) {
			t.Errorf("the cause became %v", f.Err())
		}
	})
}

func TestWaitEndsByARestore(t *testing.T) {
	h := newHistory(t, 3, 50)
	data := snap(t, h.live)
	synctest.Test(t, func(t *testing.T) {
		f := New(Config{Cluster: testCluster})
		go func() {
			if err := f.Wait(t.Context(), h.live.Index()); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		restoreInto(t, f, data)
		synctest.Wait()
	})
}
