package store

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// entryOf makes one entry of so many bytes.
func entryOf(index uint64, size int) []*raft.Log {
	return []*raft.Log{{Index: index, Term: 1, Data: make([]byte, size), AppendedAt: time.Now()}}
}

func BenchmarkStoreLogs(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10, 128 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s := open(b, Config{Dir: storeDir(b)})
			b.SetBytes(int64(size))
			took := make([]time.Duration, 0, b.N)
			for i := uint64(1); b.Loop(); i++ {
				start := time.Now()
				must(b, s.Log().StoreLogs(entryOf(i, size)))
				took = append(took, time.Since(start))
			}
			report(b, took)
		})
	}
}

// report gives percentiles of what single appends took.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
	b.ReportMetric(ms(took[len(took)-1]), "worst-ms")
}

// appendWhile appends entries of 64 KiB until work is done, and returns what
// each took.
func appendWhile(b *testing.B, s *Store, next uint64, work func()) []time.Duration {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { work(); close(done) })
	defer wg.Wait()
	var took []time.Duration
	for ; ; next++ {
		start := time.Now()
		must(b, s.Log().StoreLogs(entryOf(next, 64<<10)))
		took = append(took, time.Since(start))
		select {
		case <-done:
			return took
		default:
		}
	}
}

// BenchmarkDeleteRange deletes 10,000 entries of 16 KiB under appends.
func BenchmarkDeleteRange(b *testing.B) {
	for _, sliced := range []bool{true, false} {
		b.Run(map[bool]string{true: "sliced", false: "at-once"}[sliced], func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := open(b, Config{Dir: storeDir(b)})
				for i := uint64(1); i <= 10_000; i += 100 {
					var batch []*raft.Log
					for j := i; j < i+100; j++ {
						batch = append(batch, entryOf(j, 16<<10)...)
					}
					must(b, s.Log().StoreLogs(batch))
				}
				b.StartTimer()
				report(b, appendWhile(b, s, 10_001, func() {
					if sliced {
						must(b, s.log.deleteSliced(OpCompact, 1, 10_000))
					} else {
						must(b, s.log.deleteAtOnce(OpCompact, 1, 10_000))
					}
				}))
				must(b, s.Close())
			}
		})
	}
}

// BenchmarkSnapshot writes 400 MB under appends.
func BenchmarkSnapshot(b *testing.B) {
	block := noise(1 << 20)
	for name, cfg := range map[string]Config{
		"paced":              {},
		"unpaced":            {Pace: -1},
		"unpaced-one-sync":   {Pace: -1, SyncEvery: 1 << 40},
		"none-written-8secs": {Pace: 1},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cfg.Dir = storeDir(b)
				s := open(b, cfg)
				mustAppend(b, s, entries(1, 1000, 1))
				report(b, appendWhile(b, s, 1001, func() {
					if cfg.Pace == 1 {
						<-time.After(8 * time.Second)
						return
					}
					sink, err := s.Snapshots().Create(1, 900, 1, members, 1, nil)
					must(b, err)
					for range 400 {
						_, err := sink.Write(block)
						must(b, err)
					}
					must(b, sink.Close())
				}))
				must(b, s.Close())
			}
		})
	}
}
