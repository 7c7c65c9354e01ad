package main

import (
	"fmt"
	"hash/maphash"
	"math/rand"
	"strings"
	"time"
)

// Result is what an exploration found.
type Result struct {
	States, Depth int
	Full          bool
	Viol          string
	Trace         []string
	Time          time.Duration
	Cov           map[string]int
}

var seed1, seed2 = maphash.MakeSeed(), maphash.MakeSeed()

func (m *Model) rank() bool { return !m.TopicCounter && m.Config.Disaster == 0 && !m.FileIndexes }

func hash(b []byte) [2]uint64 {
	return [2]uint64{maphash.Bytes(seed1, b), maphash.Bytes(seed2, b)}
}

// explore is a breadth-first search over all states: the first violation found
// has a trace of minimal length.
func (m *Model) explore() Result {
	begin := time.Now()
	m.cov = map[string]int{}
	seen := map[[2]uint64]struct{}{}
	var parent []uint32
	var nth []uint16
	init := m.initial()
	init.canon(m.rank())
	buf := make([]byte, 0, 1024)
	seen[hash(init.encode(buf))] = struct{}{}
	parent, nth = append(parent, 0), append(nth, 0)
	type item struct {
		s  State
		id uint32
	}
	level := []item{{init, 0}}
	r := Result{Full: true}
	for len(level) > 0 && r.Viol == "" {
		var next []item
		for i := range level {
			k := uint16(0)
			m.succ(&level[i].s, func(n *State, _ string) {
				k++
				if r.Viol != "" {
					return
				}
				viol := n.viol
				if viol == "" {
					n.canon(m.rank())
					h := hash(n.encode(buf[:0]))
					if _, ok := seen[h]; ok {
						return
					}
					seen[h] = struct{}{}
					if m.Progress {
						c := m.cov
						m.cov = nil
						m.settle(n, true)
						if n.viol == "" {
							m.settle(n, false)
						}
						m.cov = c
						viol = n.viol
					}
				}
				parent, nth = append(parent, level[i].id), append(nth, k)
				if viol != "" {
					r.Viol = viol
					r.Trace = m.replay(parent, nth, uint32(len(parent)-1))
					return
				}
				next = append(next, item{*n, uint32(len(parent) - 1)})
			})
			if r.Viol != "" {
				break
			}
			if m.Cap > 0 && len(seen) > m.Cap {
				r.Full = false
				break
			}
		}
		if !r.Full {
			break
		}
		level = next
		if len(next) > 0 {
			r.Depth++
		}
	}
	r.States = len(parent)
	r.Time = time.Since(begin)
	r.Cov = m.cov
	return r
}

func (m *Model) replay(parent []uint32, nth []uint16, id uint32) []string {
	var path []uint16
	for id != 0 {
		path = append(path, nth[id])
		id = parent[id]
	}
	m.tr = true
	defer func() { m.tr = false }()
	s := m.initial()
	s.canon(m.rank())
	var t []string
	for i := len(path) - 1; i >= 0; i-- {
		k := uint16(0)
		var to State
		m.succ(&s, func(n *State, what string) {
			k++
			if k == path[i] {
				to = *n
				t = append(t, what)
			}
		})
		to.canon(m.rank())
		s = to
	}
	return t
}

// walk runs random walks for a while.
func (m *Model) walk(d time.Duration, seed int64) (runs, steps int, viol string, trace []string) {
	rng := rand.New(rand.NewSource(seed))
	m.cov = map[string]int{}
	end := time.Now().Add(d)
	for time.Now().Before(end) {
		runs++
		rs := rng.Int63()
		s, v, _ := m.oneWalk(rs, false, &steps)
		_ = s
		if v != "" {
			_, v, t := m.oneWalk(rs, true, &steps)
			return runs, steps, v, t
		}
	}
	return runs, steps, "", nil
}

func (m *Model) oneWalk(seed int64, tr bool, steps *int) (State, string, []string) {
	rng := rand.New(rand.NewSource(seed))
	m.tr = tr
	defer func() { m.tr = false }()
	s := m.initial()
	var t []string
	for {
		var to State
		var what string
		w := 0
		m.succ(&s, func(n *State, d string) {
			w++
			if rng.Intn(w) == 0 {
				to, what = *n, d
			}
		})
		if w == 0 {
			return s, "", t
		}
		*steps++
		if tr {
			t = append(t, what)
		}
		if to.viol != "" {
			return to, to.viol, t
		}
		to.canon(m.rank())
		s = to
		if m.Progress {
			c := m.cov
			m.cov = nil
			m.settle(&s, rng.Intn(2) == 0)
			m.cov = c
			if s.viol != "" {
				return s, s.viol, t
			}
		}
	}
}

// String tells the result in a line, a violation with its trace.
func (r Result) String() string {
	full := "complete"
	if !r.Full {
		full = "cut at the cap"
	}
	if r.Viol != "" {
		return fmt.Sprintf("VIOLATION after %d states, %d steps: %s\n      %s", r.States, len(r.Trace), r.Viol, strings.Join(r.Trace, "\n      "))
	}
	return fmt.Sprintf("holds: %d states, depth %d, %s, %.1fs", r.States, r.Depth, full, r.Time.Seconds())
}
