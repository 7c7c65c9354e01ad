package client

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// topicQueue is a queue of one of many topics.
func topicQueue(topic int, id int32) offset.MessageQueue {
	return offset.MessageQueue{Topic: fmt.Sprintf("t%02d", topic), Broker: "bk", QueueID: id}
}

// denying refuses reads of some topics.
func denying(topics ...int) func(offset.Key) error {
	return func(k offset.Key) error {
		for _, n := range topics {
			if k.Topic == topicQueue(n, 0).Topic {
				return offset.ErrDenied
			}
		}
		return nil
	}
}

// readTopics gives a store that has read some queues of some topics.
func readTopics(t *testing.T, f *fakeCluster, topics int, queues int32, told *fences) *RemoteStore {
	s := f.store(WithOnFenced(told.add))
	for n := range topics {
		for id := range queues {
			if _, err := s.ReadOffset(within(t, time.Second), topicQueue(n, id), ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
				t.Fatal(err)
			}
		}
	}
	return s
}

// tellsOf makes an act on a queue, and checks that one run of the loop reports it.
func tellsOf(t *testing.T, f *fakeCluster, s *RemoteStore, told *fences, mq offset.MessageQueue) {
	t.Helper()
	f.state.reset(offset.Key{Group: s.group, MessageQueue: mq}, 3)
	s.tick(within(t, time.Minute))
	if list := told.take(); len(list) != 1 || list[0].Queue != mq {
		t.Fatalf("an act on %v: told %+v", mq, list)
	}
}

// A topic that may no longer be read does not hide acts on the others, and is told
// of what it missed once it may be read again.
func TestATopicThatMayNotBeReadHidesNoAct(t *testing.T) {
	for n := range 10 { // the queue that is asked first is any
		synctest.Test(t, func(t *testing.T) {
			f := newFakeCluster(t, "a:1")
			var told fences
			s := readTopics(t, f, 4, 20, &told)
			f.barReads(denying(2))
			tellsOf(t, f, s, &told, topicQueue(1, int32(n)))
			f.state.reset(offset.Key{Group: s.group, MessageQueue: topicQueue(2, 7)}, 3)
			s.tick(within(t, time.Minute))
			before := f.count("fetch")
			tellsOf(t, f, s, &told, topicQueue(3, int32(n)))
			if sent := f.count("fetch") - before; sent != 3 {
				t.Errorf("%d reads for an act where it is known what is denied", sent)
			}
			before = f.count("fetch")
			s.tick(within(t, time.Minute))
			if sent := f.count("fetch") - before; sent != 2 {
				t.Errorf("%d reads where it is known what is denied", sent)
			}
			f.barReads(nil)
			s.tick(within(t, time.Minute))
			if list := told.take(); len(list) != 1 || list[0].Queue != topicQueue(2, 7) {
				t.Errorf("once it may be read, told %+v", list)
			}
			before = f.count("fetch")
			s.tick(within(t, time.Minute))
			if sent := f.count("fetch") - before; sent != 1 {
				t.Errorf("%d reads once all may be read", sent)
			}
		})
	}
}

// Where many topics may not be read, a run asks little, and the runs after find
// those that may.
func TestManyTopicsThatMayNotBeReadAreFoundRunByRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var told fences
		s := readTopics(t, f, 100, 2, &told)
		var odd []int
		for n := 1; n < 100; n += 2 {
			odd = append(odd, n)
		}
		f.barReads(denying(odd...))
		for n := 0; n < 100; n += 2 {
			f.state.reset(offset.Key{Group: s.group, MessageQueue: topicQueue(n, 1)}, 3)
		}
		found := 0
		for run := 0; found < 50; run++ {
			before := f.count("fetch")
			s.tick(within(t, time.Minute))
			if sent := f.count("fetch") - before; sent > 3*maxHalved+2 {
				t.Fatalf("%d reads in run %d", sent, run)
			}
			if found += len(told.take()); run == 20 {
				t.Fatalf("%d acts of 50 are told", found)
			}
		}
		f.barReads(func(offset.Key) error { return offset.ErrDenied })
		for range 10 {
			s.tick(within(t, time.Minute))
		}
		f.barReads(nil)
		for range 10 {
			s.tick(within(t, time.Minute))
		}
		tellsOf(t, f, s, &told, topicQueue(99, 0))
	})
}

// Questions are halved between topics, since one is denied as a whole.
func TestQuestionsAreHalvedBetweenTopics(t *testing.T) {
	list := func(topics ...int) (list []watched) {
		for i, n := range topics {
			list = append(list, watched{mq: topicQueue(n, int32(i))})
		}
		return list
	}
	for _, c := range []struct {
		list []watched
		want int
	}{
		{list(1), 0},
		{list(1, 1, 1, 1), 0},
		{list(1, 1, 2, 2), 2},
		{list(1, 2, 2, 2, 2, 2), 1},
		{list(1, 1, 1, 1, 1, 2), 5},
		{list(1, 1, 1, 2, 3), 3},
	} {
		if got := between(c.list); got != c.want {
			t.Errorf("%v is halved at %d; want %d", c.list, got, c.want)
		}
	}
}
