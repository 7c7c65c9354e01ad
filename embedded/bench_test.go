package embedded_test

import (
	"sync/atomic"
	"testing"

	"github.com/tidemark-mq/tidemark/embedded"
)

// BenchmarkOpen is a start over a folder that has been used, and a clean end.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		n, err := embedded.Open(b.Context(), dir)
		if err != nil {
			b.Fatal(err)
		}
		n.Close()
	}
}

// BenchmarkPersist is one offset, made durable, by one caller and by 64.
func BenchmarkPersist(b *testing.B) {
	n := open(b, b.TempDir())
	var queues atomic.Int32
	newQueue := func() func() {
		mq := queue(queues.Add(1))
		s := newStore(b, n.Client())
		read(b, s, mq)
		next := int64(0)
		return func() {
			next++
			s.UpdateOffset(mq, next, true)
			if err := s.Persist(b.Context(), mq); err != nil {
				b.Error(err)
			}
		}
	}
	b.Run("one", func(b *testing.B) {
		persist := newQueue()
		for b.Loop() {
			persist()
		}
	})
	b.Run("64", func(b *testing.B) {
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			persist := newQueue()
			for pb.Next() {
				persist()
			}
		})
	})
}
