package rocketmq

import (
	"os"
	"runtime"
	"sync"
	"testing"
)

// TestC23BadAnswersByTheThousand: malformed answers, again and again, cost no
// memory and hold up nobody else (apache/rocketmq#10832, #3474).
func TestC23BadAnswersByTheThousand(t *testing.T) {
	times := 20
	if os.Getenv("SOAK") != "" {
		times = 1_000
	}
	healthy := startAnswering(t, func(header) (int, map[string]string, string) { return 0, map[string]string{"offset": "7"}, "" })
	beside, stop := newTestClient(t, healthy.addr), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			if n, err := beside.MaxOffset(t.Context(), moss); err != nil || n != 7 {
				t.Errorf("the healthy peer: %d, %v", n, err)
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	list, what := frames(t, "C23.frames.hex")
	before := heap()
	for i, b := range list[:len(list)-1] {
		b = append(b, make([]byte, 1<<10)...) // what follows is garbage, too
		p := startRaw(t, func(int32) []byte { return b })
		client := newTestClient(t, p.addr)
		for range times {
			if n, err := client.MaxOffset(t.Context(), moss); err == nil {
				t.Fatalf("%s: %d", what[i], n)
			}
		}
		client.Close()
		p.stop()
	}
	close(stop)
	wg.Wait()
	if after := heap(); after > before+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

// heap is what is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
