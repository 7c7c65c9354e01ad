package fsm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// sealed makes a log entry of requests.
func sealed(t testing.TB, index uint64, list ...entry.Request) *raft.Log {
	t.Helper()
	b := entry.NewBuilder(testCluster, 1)
	for i := range list {
		if err := b.Add(&list[i]); err != nil {
			t.Fatal(err)
		}
	}
	return &raft.Log{Index: index, Type: raft.LogCommand, Data: b.Seal(1_700_000_000_000)}
}

func commit(group string, off int64) entry.Request {
	return entry.Request{Principal: "app", From: "192.0.2.1:4000", Commits: &offset.Commits{Cluster: testCluster, Topics: []offset.TopicCommits{
		{Group: group, Topic: "t", Broker: "b", Queues: []offset.QueueCommit{{QueueID: 0, Offset: off}}},
	}}}
}

func key(group string) offset.Key {
	return offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: "t", Broker: "b"}}
}

// latched fails unless f has latched for want and does nothing any more.
func latched(t testing.TB, f *FSM, want error) {
	t.Helper()
	select {
	case <-f.Failed():
	default:
		t.Fatal("it has not latched")
	}
	if want != nil && !errors.Is(f.Err(), want) {
		t.Fatalf("the cause is %v, wanted %v", f.Err(), want)
	}
	before := f.Root()
	a := f.Apply(sealed(t, before.Index()+100, commit("later", 1))).(*Answers)
	if !errors.Is(a.Err, f.Err()) || len(a.Requests) != 0 {
		t.Errorf("a later entry is answered %+v", a)
	}
	if f.Root() != before {
		t.Error("a later entry changed the state")
	}
	if _, err := f.Snapshot(); !errors.Is(err, f.Err()) {
		t.Errorf("a snapshot is answered %v", err)
	}
	if err := f.Restore(io.NopCloser(bytes.NewReader(snap(t, New(Config{Cluster: testCluster}))))); !errors.Is(err, f.Err()) {
		t.Errorf("a restore is answered %v", err)
	}
	if err := f.Wait(context.Background(), before.Index()+1); !errors.Is(err, f.Err()) {
		t.Errorf("a wait is answered %v", err)
	}
	if err := f.Wait(context.Background(), before.Index()); err != nil {
		t.Errorf("a wait for what is there is answered %v", err)
	}
}

// A member meets an entry of a kind that it does not know, as when a newer
// build leads: it must not go on without it.
func TestMemberMeetingAnUnknownEntryKindLatches(t *testing.T) {
	good := sealed(t, 5, commit("g", 7))
	kind := sealed(t, 6, commit("g", 8))
	kind.Data = bytes.Clone(kind.Data)
	kind.Data[3] = 99
	f := New(Config{Cluster: testCluster})
	answers := f.ApplyBatch([]*raft.Log{good, kind, sealed(t, 7, commit("g", 9))})
	latched(t, f, offset.ErrLevel)
	if a := answers[0].(*Answers); a.Err != nil || a.Requests[0].Verdicts[0].Code != offset.CodeOK {
		t.Errorf("the entry before is answered %+v", a)
	}
	for _, a := range answers[1:] {
		if a := a.(*Answers); !errors.Is(a.Err, offset.ErrLevel) {
			t.Errorf("the entry, and the one after it, are answered %+v", a)
		}
	}
	if s := f.Root().Get(key("g")); s.Position.Offset != 7 || f.Index() != 5 {
		t.Errorf("at index %d the key is at %d; index 5 and 7 were acknowledged", f.Index(), s.Position.Offset)
	}
	if !strings.Contains(f.Err().Error(), "index 6") {
		t.Errorf("the cause does not name the entry: %v", f.Err())
	}
}

func TestWhatCannotBeAppliedLatches(t *testing.T) {
	level := sealed(t, 1, commit("g", 1))
	level.Data[2] = offset.FormatLevel + 1
	foreign := entry.NewBuilder(offset.ClusterID{1}, 1)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"level above ours":  {level.Data, offset.ErrLevel},
		"raise above ours":  {sealed(t, 1, entry.Request{Level: offset.FormatLevel + 1}).Data, offset.ErrLevel},
		"foreign cluster":   {foreign.Seal(0), offset.ErrForeignCluster},
		"no entry":          {[]byte("something"), offset.ErrDamaged},
		"nothing":           {nil, offset.ErrDamaged},
		"cut in the middle": {level.Data[:20], offset.ErrLevel},
	} {
		t.Run(name, func(t *testing.T) {
			f := New(Config{Cluster: testCluster})
			f.Apply(&raft.Log{Index: 3, Data: c.data})
			latched(t, f, c.want)
			if f.Index() != 0 {
				t.Errorf("the index is %d", f.Index())
			}
		})
	}
}

func TestDamagedConfigurationLatches(t *testing.T) {
	f := New(Config{Cluster: testCluster})
	answers := f.ApplyBatch([]*raft.Log{{Index: 3, Type: raft.LogConfiguration, Data: []byte("no configuration")}})
	latched(t, f, nil)
	if answers[0] != nil {
		t.Errorf("it is answered %+v", answers[0])
	}
}

// A panic in the middle of an entry leaves the table with half of it: none of
// the batch may be seen, and none of its callers be told that it is done.
func TestPanicInABatchPublishesNothingOfIt(t *testing.T) {
	f := New(Config{Cluster: testCluster, Audit: func(Record) { t.Error("a record of what was not published") }})
	f.Apply(sealed(t, 1, commit("g", 1)))
	before := f.Root()
	b := newBatch(f, 2)
	b.command(0, sealed(t, 2, commit("g", 2)))
	b.next = 1
	b.try(3, func() {
		b.begin(3, 0)
		b.results[1] = &Answers{Index: 3}
		b.records = append(b.records, Record{})
		panic("a bug")
	})
	b.next = 2
	b.publish()
	latched(t, f, nil)
	if f.Root() != before || f.Root().Get(key("g")).Position.Offset != 1 {
		t.Error("half a batch was published")
	}
	for i, r := range b.results {
		if a := r.(*Answers); a.Err == nil || len(a.Requests) != 0 || a.Index != uint64(i)+2 {
			t.Errorf("entry %d is answered %+v", i+2, a)
		}
	}
	if !strings.Contains(f.Err().Error(), "a bug") {
		t.Errorf("the cause is %v", f.Err())
	}
}

func TestPanicOfACallbackLatches(t *testing.T) {
	f := New(Config{Cluster: testCluster, Checkpoint: func(uint64, offset.Digest) { panic("in a callback") }})
	f.Apply(sealed(t, 1, entry.Request{Checkpoint: true}))
	latched(t, f, nil)
}
