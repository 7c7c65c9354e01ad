package fsm

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestAuditQueueKeepsOrderAndNamesGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewAuditQueue(3)
		for i := range uint64(5) { // 4 and 5 find it full
			q.Offer(Record{Index: i + 1, What: "set"})
		}
		var got []Record
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); q.Run(ctx, func(r Record) { got = append(got, r) }) }()
		synctest.Wait()
		q.Offer(Record{Index: 6, What: "set"})
		synctest.Wait()
		q.Offer(Record{Index: 7, What: "set"})
		cancel() // what is in the queue is still written
		<-done
		want := []Record{{Index: 1}, {Index: 2}, {Index: 3}, {Index: 5, Since: 3, What: "gap"}, {Index: 6}, {Index: 7}}
		if len(got) != len(want) || q.Dropped() != 2 {
			t.Fatalf("written: %+v; %d dropped", got, q.Dropped())
		}
		for i, w := range want {
			if got[i].Index != w.Index || got[i].Since != w.Since || w.What == "gap" && got[i].What != "gap" {
				t.Errorf("line %d is %+v, wanted %+v", i, got[i], w)
			}
		}
	})
}

func TestAuditQueueNeverBlocks(t *testing.T) {
	q := NewAuditQueue(10)
	for i := range uint64(10_000) {
		q.Offer(Record{Index: i})
	}
	if len(q.records) > 10 || q.Dropped() != 9_990 {
		t.Fatalf("%d records are kept, %d dropped", len(q.records), q.Dropped())
	}
}
