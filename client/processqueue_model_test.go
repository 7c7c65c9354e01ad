package client

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// plainQueue is a ProcessQueue as one would write it down: RocketMQ's two maps.
type plainQueue struct {
	waiting, taken map[int64]bool
	last           int64
	consuming      bool
	dropped        bool
}

func (p *plainQueue) lowest() (int64, bool) {
	all := slices.Concat(slices.Collect(maps.Keys(p.waiting)), slices.Collect(maps.Keys(p.taken)))
	if len(all) == 0 {
		return 0, false
	}
	return slices.Min(all), true
}

func (p *plainQueue) put(list []int64) bool {
	for _, o := range list {
		if !p.waiting[o] && !p.taken[o] {
			p.waiting[o] = true
			p.last = o
		}
	}
	dispatch := len(p.waiting) > 0 && !p.consuming
	p.consuming = p.consuming || dispatch
	return dispatch
}

func (p *plainQueue) complete(list []int64) int64 {
	if _, any := p.lowest(); !any || p.dropped {
		return -1
	}
	for _, o := range list {
		delete(p.waiting, o)
		delete(p.taken, o)
	}
	if first, any := p.lowest(); any {
		return first
	}
	return p.last + 1
}

func (p *plainQueue) take(n int) (list []int64) {
	for _, o := range slices.Sorted(maps.Keys(p.waiting)) {
		if len(list) < n {
			list = append(list, o)
			delete(p.waiting, o)
			p.taken[o] = true
		}
	}
	if list == nil && n > 0 {
		p.consuming = false
	}
	return list
}

func (p *plainQueue) commit(taken []int64) int64 {
	if len(taken) == 0 {
		return -1
	}
	next := slices.Max(taken) + 1
	clear(p.taken)
	if first, any := p.lowest(); any {
		next = min(next, first)
	}
	return next
}

// TestProcessQueueAsThePlainOne runs random calls against both.
func TestProcessQueueAsThePlainOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := NewProcessQueue[string]()
		p := &plainQueue{waiting: map[int64]bool{}, taken: map[int64]bool{}}
		base := int64(0)
		some := func(label string) []int64 {
			list := rapid.SliceOfN(rapid.Int64Range(0, 40), 0, 12).Draw(t, label)
			for i := range list {
				list[i] += base
			}
			return list
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				list := some("put")
				dispatch, err := q.Put(flights(list...)...)
				if err != nil || dispatch != p.put(list) {
					t.Fatalf("Put: %v, %v", dispatch, err)
				}
			},
			"run": func(t *rapid.T) { // many in a row, as a fetch gives them
				var list []int64
				for i := range int64(rapid.IntRange(1, 200).Draw(t, "run")) {
					list = append(list, base+i)
				}
				dispatch, err := q.Put(flights(list...)...)
				if err != nil || dispatch != p.put(list) {
					t.Fatalf("Put: %v, %v", dispatch, err)
				}
			},
			"move": func(t *rapid.T) { base += rapid.Int64Range(0, 30).Draw(t, "move") },
			"complete": func(t *rapid.T) {
				list := some("complete")
				if got, want := said(q.Complete(list...)), p.complete(list); got != want {
					t.Fatalf("Complete: %d, want %d", got, want)
				}
			},
			"complete below": func(t *rapid.T) {
				var list []int64
				for o := base - 60; o < base+rapid.Int64Range(0, 150).Draw(t, "to"); o++ {
					list = append(list, o)
				}
				if got, want := said(q.Complete(list...)), p.complete(list); got != want {
					t.Fatalf("Complete: %d, want %d", got, want)
				}
			},
			"ack": func(t *rapid.T) {
				list := some("ack")
				slices.Sort(list)
				list = slices.Compact(list)
				n := rapid.IntRange(-2, 13).Draw(t, "index")
				front := min(max(n+1, 0), len(list))
				next, ok, failed := q.Ack(list, n)
				want := p.complete(list[:front])
				rest := slices.DeleteFunc(slices.Clone(list[front:]), func(o int64) bool { return !p.waiting[o] && !p.taken[o] })
				if said(next, ok) != want || !slices.Equal(failed, rest) {
					t.Fatalf("Ack: %d, %v, %v; want %d, %v", next, ok, failed, want, rest)
				}
			},
			"take": func(t *rapid.T) {
				n := rapid.IntRange(0, 9).Draw(t, "n")
				if got, want := q.Take(n), flights(p.take(n)...); !slices.Equal(got, want) {
					t.Fatalf("Take: %v, want %v", got, want)
				}
			},
			"rollback": func(*rapid.T) {
				q.Rollback()
				maps.Copy(p.waiting, p.taken)
				clear(p.taken)
			},
			"again": func(t *rapid.T) {
				list := some("again")
				q.MakeAgain(list...)
				for _, o := range list {
					if p.taken[o] {
						delete(p.taken, o)
						p.waiting[o] = true
					}
				}
			},
			"commit": func(t *rapid.T) {
				taken := slices.Collect(maps.Keys(p.taken))
				if got, want := said(q.Commit()), p.commit(taken); got != want {
					t.Fatalf("Commit: %d, want %d", got, want)
				}
			},
			"": func(t *rapid.T) {
				s := q.State()
				first, any := p.lowest()
				if s.Messages != len(p.waiting)+len(p.taken) || any && s.First != first {
					t.Fatalf("state %+v of %v, %v", s, p.waiting, p.taken)
				}
				if q.line.waiting != len(p.waiting) || q.line.len() > 0 && q.line.slots[q.line.head].state == done {
					t.Fatalf("the line is not in order: %+v", q.line)
				}
			},
		})
	})
}

// BenchmarkComplete completes messages from the back of what is in flight,
// which is the worst order: the time must not grow with their number.
func BenchmarkComplete(b *testing.B) {
	for _, gap := range []int64{1, 3} {
		for _, n := range []int64{10, 1000, 60_000} {
			name := map[int64]string{10: "10", 1000: "1k", 60_000: "60k"}[n] + map[int64]string{1: "", 3: "/gaps"}[gap]
			b.Run(name, func(b *testing.B) {
				list := make([]InFlight[struct{}], n)
				base := int64(0)
				q := NewProcessQueue[struct{}]()
				b.ReportAllocs()
				for left := int64(0); b.Loop(); left-- {
					if left == 0 {
						b.StopTimer()
						base += n * gap
						for i := range list {
							list[i].Offset = base + int64(i)*gap
						}
						if _, err := q.Put(list...); err != nil {
							b.Fatal(err)
						}
						left = n
						b.StartTimer()
					}
					q.Complete(base + (left-1)*gap)
				}
			})
		}
	}
}
