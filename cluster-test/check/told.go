package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ackfile"
	"github.com/tidemark-mq/tidemark/offset"
)

// told is what all consumers were told.
type told struct {
	files        int
	acknowledged int
	resent       int
	fenced       int
	// most is the largest acknowledged offset of each key.
	most map[offset.Key]int64
	// lowered are reads at a start that gave less than was acknowledged before.
	lowered []loss
	// times are the moments of acknowledgements, Unix nanoseconds.
	times []int64
}

func readTold(dir string) (*told, error) {
	t := &told{most: map[offset.Key]int64{}}
	err := ackfile.Files(dir, func(path string, k offset.Key, events []ackfile.Event) error {
		t.files++
		for _, e := range events {
			k.QueueID = e.Queue
			t.take(path, k, e)
		}
		return nil
	})
	return t, err
}

func (t *told) take(path string, k offset.Key, e ackfile.Event) {
	switch e.Kind {
	case ackfile.Acknowledged:
		t.acknowledged++
		t.times = append(t.times, e.Time.UnixNano())
		t.atLeast(k, e.Offset)
	case ackfile.Resent:
		t.resent++
	case ackfile.Fenced:
		t.fenced++
	case ackfile.Read:
		if want, ok := t.most[k]; ok && e.Offset < want {
			t.lowered = append(t.lowered, loss{where: "a restart noted in " + filepath.Base(path), key: k, want: want, got: fmt.Sprint(e.Offset)})
		}
	}
}

func (t *told) atLeast(k offset.Key, o int64) {
	if have, ok := t.most[k]; !ok || o > have {
		t.most[k] = o
	}
}

// longestGap is the longest time between two acknowledgements next to each
// other, of whatever consumers.
func (t *told) longestGap() time.Duration {
	slices.Sort(t.times)
	var longest int64
	for i := 1; i < len(t.times); i++ {
		longest = max(longest, t.times[i]-t.times[i-1])
	}
	return time.Duration(longest)
}
