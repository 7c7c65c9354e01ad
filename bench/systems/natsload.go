package systems

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"
)

// The ways to publish many messages at once.
const (
	// async publishes one by one without waiting, then waits for all answers.
	async = "asynchronous publishes"
	// atomic publishes them as one, at most 1,000.
	atomic = "atomic batches"
	// fast publishes a batch that is not atomic, as fast as the server lets it.
	fast = "fast batches"
)

// natsLoad is a Work on a key-value bucket.
type natsLoad struct {
	work  Work
	conns []*nats.Conn
	js    []jetstream.JetStream
	kv    []jetstream.KeyValue
	keys  [][]string
	// next is the offset that a caller writes next.
	next []int64
}

func (n *natsKV) Workload(ctx context.Context, w Work) (Load, error) {
	if w.Op == ReadGroup && w.Batch > mostSubjects {
		return nil, ErrNotOffered
	}
	l := &natsLoad{work: w, keys: paths(w, "", "."), next: make([]int64, w.Callers)}
	for range clients(w) {
		if err := l.connect(ctx, n); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	begin := firstOffset()
	for i := range l.next {
		l.next[i] = begin
	}
	if err := each(w.Callers, func(i int) error { return l.write(ctx, i) }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *natsLoad) connect(ctx context.Context, n *natsKV) error {
	// What a client may have under way is enough for all batches at once;
	// as shipped it is 4,000, beyond which it stalls.
	nc, js, err := n.connect(max(4000, l.work.Callers*l.work.Batch))
	if err != nil {
		return err
	}
	l.conns, l.js = append(l.conns, nc), append(l.js, js)
	kv, err := js.KeyValue(ctx, bucket)
	if err != nil {
		return err
	}
	l.kv = append(l.kv, kv)
	return nil
}

func (l *natsLoad) Do(ctx context.Context, caller int) error {
	client := caller % len(l.conns)
	switch l.work.Op {
	case Write:
		return l.write(ctx, caller)
	case ReadGroup:
		return l.readGroup(ctx, l.js[client], l.keys[caller])
	default:
		_, err := l.kv[client].Get(ctx, l.keys[caller][0])
		return err
	}
}

func (l *natsLoad) write(ctx context.Context, caller int) error {
	l.next[caller]++
	value := strconv.AppendInt(nil, l.next[caller], 10)
	client, keys := caller%len(l.conns), l.keys[caller]
	if len(keys) == 1 {
		_, err := l.kv[client].Put(ctx, keys[0], value)
		return err
	}
	messages := make([]*nats.Msg, len(keys))
	for i, k := range keys {
		messages[i] = &nats.Msg{Subject: subjects + k, Data: value, Header: nats.Header{}}
	}
	switch l.work.Way {
	case atomic:
		_, err := jetstreamext.PublishMsgBatch(ctx, l.js[client], messages)
		return err
	case fast:
		return publishFast(ctx, l.js[client], messages)
	default:
		return publishAsync(ctx, l.js[client], messages)
	}
}

// publishAsync is answered once each message is.
func publishAsync(ctx context.Context, js jetstream.JetStream, messages []*nats.Msg) error {
	answers := make([]jetstream.PubAckFuture, len(messages))
	for i, m := range messages {
		m.Header = nil // a message without one is shorter
		var err error
		if answers[i], err = js.PublishMsgAsync(m); err != nil {
			return err
		}
	}
	for _, a := range answers {
		select {
		case <-a.Ok():
		case err := <-a.Err():
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func publishFast(ctx context.Context, js jetstream.JetStream, messages []*nats.Msg) error {
	p, err := jetstreamext.NewFastPublisher(js)
	if err != nil {
		return err
	}
	last := len(messages) - 1
	for _, m := range messages[:last] {
		if _, err := p.AddMsg(m); err != nil {
			return err
		}
	}
	_, err = p.CommitMsg(ctx, messages[last])
	return err
}

// mostSubjects is how many keys the server lets one request read.
const mostSubjects = 1024

// readGroup reads the newest value of each key below the group's name.
func (l *natsLoad) readGroup(ctx context.Context, js jetstream.JetStream, keys []string) error {
	group, _, _ := strings.Cut(keys[0], ".")
	found, err := jetstreamext.GetLastMsgsFor(ctx, js, stream, []string{subjects + group + ".>"})
	if err != nil {
		return err
	}
	n, err := count(found)
	if err == nil && n < len(keys) {
		err = fmt.Errorf("%d keys are there, %d were written", n, len(keys))
	}
	return err
}

func count(messages iter.Seq2[*jetstream.RawStreamMsg, error]) (n int, err error) {
	for _, err := range messages {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (l *natsLoad) Close() error {
	for _, nc := range l.conns {
		nc.Close()
	}
	return nil
}
