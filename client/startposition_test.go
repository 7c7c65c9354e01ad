package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// answer is a store that answers reads with one thing, and notes how it was asked.
type answer struct {
	OffsetStore
	next int64
	err  error
	from ReadOffsetType
}

func (a *answer) ReadOffset(_ context.Context, _ offset.MessageQueue, from ReadOffsetType) (int64, error) {
	a.from = from
	return a.next, a.err
}

// ends answers for a broker, and notes what it was asked.
type ends struct {
	asked string
	next  int64
	err   error
}

func (e *ends) MaxOffset(_ context.Context, mq offset.MessageQueue) (int64, error) {
	e.asked += "max " + mq.Topic
	return e.next, e.err
}

func (e *ends) SearchOffset(_ context.Context, mq offset.MessageQueue, at time.Time) (int64, error) {
	e.asked += fmt.Sprintf("search %s %d", mq.Topic, at.Unix())
	return e.next, e.err
}

// TestStartPosition is RocketMQ's table.
func TestStartPosition(t *testing.T) {
	failed := offset.Errorf(offset.ErrNoLeader, "who knows")
	none := &Error{Op: "read offset", Err: offset.ErrNoOffset}
	at := time.Unix(1e9, 0)
	for _, c := range []struct {
		store *answer
		topic string
		from  ConsumeFrom
		want  int64
		asked string
	}{
		{&answer{next: 42}, "moss", FromLast, 42, ""},
		{&answer{next: 42}, "moss", FromFirst, 42, ""},
		{&answer{next: 42}, "moss", FromTimestamp, 42, ""},
		{&answer{next: 42}, "%RETRY%g", FromLast, 42, ""},
		{&answer{next: 42}, "%RETRY%g", FromTimestamp, 42, ""},
		{&answer{next: 0}, "moss", FromLast, 0, ""}, // zero is an offset
		{&answer{err: none}, "moss", FromLast, 700, "max moss"},
		{&answer{err: none}, "moss", FromFirst, 0, ""},
		{&answer{err: none}, "moss", FromTimestamp, 700, "search moss 1000000000"},
		{&answer{err: none}, "%RETRY%g", FromLast, 0, ""},
		{&answer{err: none}, "%RETRY%ns%g", FromFirst, 0, ""},
		{&answer{err: none}, "%RETRY%ns%g", FromTimestamp, 700, "max %RETRY%ns%g"},
		{&answer{err: none}, "ns%moss", FromLast, 700, "max ns%moss"},
		{&answer{err: none}, "%DLQ%g", FromLast, 700, "max %DLQ%g"},
		{&answer{err: failed}, "moss", FromLast, -1, ""},
		{&answer{err: failed}, "moss", FromFirst, -1, ""},
		{&answer{err: failed}, "moss", FromTimestamp, -1, ""},
		{&answer{err: failed}, "%RETRY%g", FromLast, -1, ""},
		{&answer{err: failed}, "%RETRY%g", FromTimestamp, -1, ""},
	} {
		e := &ends{next: 700}
		got, err := StartPosition(context.Background(), c.store, e, offset.MessageQueue{Topic: c.topic}, Start{From: c.from, At: at})
		if c.want < 0 {
			if !errors.Is(err, offset.ErrNoLeader) || errors.Is(err, offset.ErrNoOffset) || got != 0 {
				t.Errorf("%+v: %d, %v", c, got, err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
		if e.asked != c.asked || c.store.from != ReadFromStore {
			t.Errorf("%+v: asked %q, read %d", c, e.asked, c.store.from)
		}
	}
}

func TestStartPositionRefuses(t *testing.T) {
	ctx, q := context.Background(), offset.MessageQueue{Topic: "moss"}
	away := errors.New("the broker is away")
	none := func() *answer { return &answer{err: offset.ErrNoOffset} }
	for _, c := range []struct {
		ends  *ends
		start Start
		want  error
	}{
		{&ends{err: away}, Start{}, away},
		{&ends{err: away}, Start{From: FromTimestamp}, away},
		{&ends{next: -1}, Start{}, offset.ErrInvalid},
		{&ends{}, Start{From: 3}, offset.ErrInvalid},
	} {
		if got, err := StartPosition(ctx, none(), c.ends, q, c.start); !errors.Is(err, c.want) || got != 0 {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
	if _, err := StartPosition(ctx, none(), nil, q, Start{}); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("without ends: %v", err)
	}
	if got, err := StartPosition(ctx, none(), nil, q, Start{From: FromFirst}); got != 0 || err != nil {
		t.Errorf("without ends, where none are asked: %d, %v", got, err)
	}
	// A failure to ask the broker must not look like "no offset".
	if _, err := StartPosition(ctx, none(), &ends{err: away}, q, Start{}); errors.Is(err, offset.ErrNoOffset) || !strings.Contains(err.Error(), "ends of the queue") {
		t.Errorf("error is %v", err)
	}
}

func TestStartPositionTimes(t *testing.T) {
	e, s := &ends{}, &answer{err: offset.ErrNoOffset}
	start := Start{From: FromTimestamp, MemoryFirst: true, Clock: &stoppedClock{at: time.Unix(1e9, 0)}}
	if _, err := StartPosition(context.Background(), s, e, offset.MessageQueue{Topic: "moss"}, start); err != nil {
		t.Fatal(err)
	}
	if e.asked != "search moss 999998200" || s.from != MemoryFirstThenStore {
		t.Errorf("asked %q, read %d", e.asked, s.from)
	}
	if d := time.Since(Start{}.at()); d < 30*time.Minute || d > 31*time.Minute {
		t.Errorf("the default is %s ago", d)
	}
}

// TestStartPositionOfALocalStore: none, then zero, then damage: three answers.
func TestStartPositionOfALocalStore(t *testing.T) {
	f := newShelf(t)
	s, q, ctx := f.load(), bk("b", 0), context.Background()
	if got, err := StartPosition(ctx, s, &ends{next: 9}, q, Start{}); got != 9 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	s.UpdateOffset(q, 0, true)
	persistAll(t, s)
	s.RemoveOffset(q)
	if got, err := StartPosition(ctx, s, &ends{next: 9}, q, Start{}); got != 0 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	f.write("offsets.json", []byte("{"))
	s.RemoveOffset(q)
	if got, err := StartPosition(ctx, s, &ends{next: 9}, q, Start{}); !errors.Is(err, offset.ErrDamaged) {
		t.Errorf("%d, %v", got, err)
	}
}
