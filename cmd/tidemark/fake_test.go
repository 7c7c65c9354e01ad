package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/fsm/backup"
	state "github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// fake is a cluster of one in memory: the real table, without raft and network.
type fake struct {
	mu    sync.Mutex
	table *state.Table
	index uint64
	// down answers every call with this error.
	down error
	// step is told of each step of an import before it is applied; its error
	// is the answer, and nothing is applied.
	step   func(*offset.Import) error
	status offset.Status
	// committed is told behind each request of commits; nil: nobody.
	committed func()
	// listed is told before each page of a listing; nil: nobody.
	listed func()
	// alter, if set, changes what the member at an address (empty: the one
	// asked first) says of itself.
	alter func(addr string, st *offset.Status)
	// calls are the changes of the cluster that were asked for.
	calls []string
	acts  []offset.Act
	// answering: members that joined answer for themselves too.
	answering bool
	// asked is told of each call of Status, from 1; nil: nobody.
	asked    func(n int)
	statuses int
	// before is told of each act before it is applied; nil: nobody.
	before func()
	// answer is what an act is answered with instead of its result; nil: its
	// result. With lose the act is not applied.
	answer func() error
	lose   bool
	// saved is the file of saved contexts, brokers what RocketMQ answers.
	saved string
	// broken: a backup breaks off half way.
	broken  bool
	brokers *fakeBrokers
}

var fakeID = offset.ClusterID{15: 7}

// fakeStart is the time of index 0, in Unix milliseconds; each entry is a second later.
const fakeStart = 1_700_000_000_000

// fakeNow is an hour later.
func fakeNow() time.Time { return time.UnixMilli(fakeStart).Add(time.Hour) }

func newFake() *fake {
	f := &fake{table: state.New(fakeID)}
	f.begin() // an index above 0, as any cluster has
	f.table.Publish()
	f.status = offset.Status{
		NodeID: "n1/aa", State: "leader", Term: 3, Level: 1, MaxLevel: 1, Version: "(devel)",
		Members: []offset.MemberStatus{{Member: offset.Member{ID: "n1/aa", API: "h1:7411", MaxLevel: 1}, Peer: "h1:7412", Voter: true, Leader: true, Match: -1, ContactAge: -1}},
	}
	return f
}

func (f *fake) begin() {
	f.index++
	f.table.Begin(f.index, int64(fakeStart+1000*f.index))
}

func (f *fake) enter(ctx context.Context) (func(), error) {
	f.mu.Lock()
	if err := f.down; err != nil {
		f.mu.Unlock()
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		f.mu.Unlock()
		return nil, err
	}
	return f.mu.Unlock, nil
}

func (f *fake) meta() offset.Meta {
	r := f.table.Root()
	return offset.Meta{Cluster: fakeID, Index: r.Index(), LastAct: r.LastAct(), Leader: "h1:7411"}
}

func (f *fake) Commit(ctx context.Context, id offset.ClusterID, list []offset.Commit) ([]offset.Verdict, offset.Meta, error) {
	unlock, err := f.enter(ctx)
	if err != nil {
		return nil, offset.Meta{}, err
	}
	defer unlock()
	topics, _ := offset.GroupCommits(list)
	c := &offset.Commits{Cluster: id, Topics: topics}
	if err := c.Validate(); err != nil {
		return nil, offset.Meta{}, err
	}
	f.begin()
	v := f.table.Commit(c, nil)
	f.table.Publish()
	if f.committed != nil {
		f.committed()
	}
	for i := range v {
		if err := v[i].Code.Err(); err != nil {
			return v, f.meta(), fmt.Errorf("commit: %w", err)
		}
		// A client is told no more than this of what was done.
		v[i].State = offset.KeyState{Exists: true, Position: offset.Position{Offset: v[i].State.Position.Offset}}
	}
	return v, f.meta(), nil
}

func (f *fake) Fetch(ctx context.Context, _ offset.ReadAt, keys ...offset.Key) (states []offset.KeyState, m offset.Meta, err error) {
	unlock, err := f.enter(ctx)
	if err != nil {
		return nil, m, err
	}
	defer unlock()
	for _, k := range keys {
		states = append(states, f.table.Root().Get(k))
	}
	return states, f.meta(), nil
}

func (f *fake) List(ctx context.Context, l offset.List) (offset.Page, error) {
	unlock, err := f.enter(ctx)
	if err != nil {
		return offset.Page{}, err
	}
	defer unlock()
	if f.listed != nil {
		f.listed()
	}
	p := f.table.Root().List(&l)
	p.Meta = f.meta()
	return p, nil
}

func (f *fake) Claims(ctx context.Context, q offset.Claims) ([]offset.Claim, offset.Meta, error) {
	unlock, err := f.enter(ctx)
	if err != nil {
		return nil, offset.Meta{}, err
	}
	defer unlock()
	var list []offset.Claim
	for _, x := range f.table.Root().Claims() {
		if !q.One || q.ByBroker == x.ByBroker && q.Name == x.Name {
			list = append(list, offset.Claim(x))
		}
	}
	return list, f.meta(), nil
}

func (f *fake) Export(ctx context.Context, l offset.List, yield func(offset.Page) error) error {
	unlock, err := f.enter(ctx)
	if err != nil {
		return err
	}
	root, m := f.table.Root(), f.meta()
	unlock()
	p, yielded := offset.Page{Meta: m}, false
	root.Walk(&l, func(k offset.KeyedState) bool {
		if p.Keys = append(p.Keys, k); len(p.Keys) == 7 {
			err = yield(p)
			p.Keys, yielded = nil, true
		}
		return err == nil
	})
	if err == nil && (len(p.Keys) > 0 || !yielded) {
		err = yield(p)
	}
	return err
}

func (f *fake) Act(ctx context.Context, a offset.Act) (r offset.ActResult, m offset.Meta, err error) {
	if f.before != nil {
		f.before()
	}
	unlock, err := f.enter(ctx)
	if err != nil {
		return r, m, err
	}
	defer unlock()
	if err := a.Validate(); err != nil {
		return r, m, err
	}
	f.acts = append(f.acts, a)
	if f.answer != nil {
		answer := f.answer()
		defer func() { r, m, err = offset.ActResult{}, offset.Meta{}, answer }()
	}
	if f.lose {
		return r, m, nil
	}
	if a.Import != nil && f.step != nil {
		if err := f.step(a.Import); err != nil {
			return r, m, err
		}
	}
	for step := uint32(0); ; step = r.Next {
		f.begin()
		r = f.table.Act(&a, step, nil)
		f.table.Publish()
		if r.Done || a.Import != nil {
			break
		}
	}
	if err := r.Code.Err(); err != nil {
		return r, f.meta(), fmt.Errorf("act: %w", err)
	}
	return r, f.meta(), nil
}

func (f *fake) Status(ctx context.Context, addr string) (st offset.Status, err error) {
	unlock, err := f.enter(ctx)
	if err != nil {
		return st, err
	}
	defer unlock()
	if f.statuses++; f.asked != nil {
		f.asked(f.statuses)
	}
	other := addr != "" && addr != "h1:7411"
	if other && !f.answering {
		return st, offset.Errorf(offset.ErrUnreachable, "%s", addr)
	}
	st = f.status
	if other {
		st.State = "follower"
		for _, m := range st.Members {
			if m.API == addr {
				st.NodeID = m.ID
				if m.Leader {
					st.State = "leader"
				}
			}
		}
	}
	leader := st.Meta.Leader
	st.Meta = f.meta()
	if st.State != "leader" {
		st.Meta.Leader = leader
	}
	r := f.table.Root()
	st.Import, st.Groups, st.Queues, st.DigestIndex = r.Import(), r.Groups(), r.Queues(), r.Index()
	st.Members = slices.Clone(st.Members) // callers ask at once, and alter writes
	if f.alter != nil {
		f.alter(addr, &st)
	}
	return st, nil
}

func (f *fake) called(ctx context.Context, format string, args ...any) (offset.Meta, error) {
	unlock, err := f.enter(ctx)
	if err != nil {
		return offset.Meta{}, err
	}
	defer unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
	return f.meta(), nil
}

func (f *fake) AddMember(ctx context.Context, id, address string) (offset.Meta, error) {
	return f.called(ctx, "add %s %s", id, address)
}
func (f *fake) PromoteMember(ctx context.Context, id string) (offset.Meta, error) {
	return f.called(ctx, "promote %s", id)
}
func (f *fake) RemoveMember(ctx context.Context, id string) (offset.Meta, error) {
	return f.called(ctx, "remove %s", id)
}
func (f *fake) Transfer(ctx context.Context, to string) (string, offset.Meta, error) {
	m, err := f.called(ctx, "transfer %s", to)
	return "n2/bb", m, err
}
func (f *fake) Snapshot(ctx context.Context, addr string) (uint64, uint64, offset.Meta, error) {
	m, err := f.called(ctx, "snapshot %s", addr)
	return 12, 3456, m, err
}
func (f *fake) Backup(ctx context.Context, addr string, at offset.ReadAt, yield func(offset.BackupPart) error) error {
	unlock, err := f.enter(ctx)
	if err != nil {
		return err
	}
	root, p := f.table.Root(), offset.BackupPart{Meta: f.meta()}
	unlock()
	var b bytes.Buffer
	if _, err := backup.Write(&b, backup.Header{Time: fakeStart, Node: "n1/aa", Build: "(devel)"}, root); err != nil {
		return err
	}
	p.Queues, p.Digest = root.Queues(), root.Digest()
	for n := 0; b.Len() > 0; n++ {
		if f.broken && n == 2 {
			return offset.Errorf(offset.ErrUnreachable, "after %d bytes: the connection broke", 200)
		}
		p.Data = b.Next(100)
		if err := yield(p); err != nil {
			return err
		}
	}
	return nil
}

func (f *fake) RaiseLevel(ctx context.Context, level uint8) (offset.Meta, error) {
	return f.called(ctx, "level %d", level)
}
func (f *fake) Close() error { return nil }

// set puts offsets in by commits, as consumers do.
func (f *fake) set(t *testing.T, n int64, keys ...offset.Key) {
	t.Helper()
	commitTo(t, f, n, keys...)
}

// commitTo commits an offset to each key, with the epoch that it reads.
func commitTo(t *testing.T, c cluster, n int64, keys ...offset.Key) {
	t.Helper()
	for _, k := range keys {
		s, m, err := c.Fetch(t.Context(), offset.ReadAt{}, k)
		if err == nil {
			_, _, err = c.Commit(t.Context(), m.Cluster, []offset.Commit{{Key: k, Offset: n, Epoch: s[0].Epoch}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// all gives what the cluster holds, a line for each key.
func (f *fake) all() string {
	var b strings.Builder
	f.table.Root().Walk(&offset.List{}, func(k offset.KeyedState) bool {
		fmt.Fprintf(&b, "%s=%d\n", k.Key, k.Position.Offset)
		return true
	})
	return b.String()
}

// fakeBrokers are RocketMQ's brokers: each of their queues has the messages 10
// to 99, one a minute since fakeStart.
type fakeBrokers struct {
	// down answers every call with this error.
	down error
	// held is what each broker holds, as the body of code 43, by its name.
	held map[string]string
}

func (b *fakeBrokers) open(context.Context, string) (brokers, error) { return b, b.down }

func (b *fakeBrokers) MinOffset(context.Context, offset.MessageQueue) (int64, error) {
	return 10, b.down
}

func (b *fakeBrokers) MaxOffset(_ context.Context, mq offset.MessageQueue) (int64, error) {
	if mq.Broker == "" {
		return 0, offset.Errorf(offset.ErrNotFound, "no broker is named for %s", mq.Topic)
	}
	return 100, b.down
}

func (b *fakeBrokers) SearchOffset(_ context.Context, _ offset.MessageQueue, at time.Time) (int64, error) {
	n := int64(10 + at.Sub(time.UnixMilli(fakeStart))/time.Minute)
	return min(max(n, 10), 100), b.down
}

func (b *fakeBrokers) Close() error { return nil }

func key(group, topic, broker string, queue int32) offset.Key {
	return offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: topic, Broker: broker, QueueID: queue}}
}

// ran is what one run of the program left.
type ran struct {
	code     int
	out, err string
}

// tidemark runs the program against the fake.
func (f *fake) tidemark(t *testing.T, args ...string) ran {
	t.Helper()
	return f.tidemarkCtx(t.Context(), args...)
}

func (f *fake) tidemarkCtx(ctx context.Context, args ...string) ran {
	var out, errs bytes.Buffer
	st := streams{out: &out, err: &errs, wall: fakeNow, saved: f.saved}
	if f.brokers != nil {
		st.open = f.brokers.open
	}
	code := run(ctx, args, st, func([]string) (cluster, error) { return f, nil })
	return ran{code, out.String(), errs.String()}
}

// want checks code, the words on standard output and those on standard error.
func (r ran) want(t *testing.T, code int, out, errs string) ran {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\nout: %s\nerr: %s", r.code, code, r.out, r.err)
	}
	if !strings.Contains(r.out, out) || out == "" && r.out != "" {
		t.Errorf("standard output is %q, want %q in it", r.out, out)
	}
	if !strings.Contains(r.err, errs) || errs == "" && r.err != "" {
		t.Errorf("standard error is %q, want %q in it", r.err, errs)
	}
	if code != 0 && strings.Count(r.err, "tidemark: ") > 1 {
		t.Errorf("more than one error line: %q", r.err)
	}
	return r
}

// silent wants that a run did what it was to, without a word beside.
func (r ran) silent(t *testing.T) {
	t.Helper()
	if r.code != 0 || r.err != "" {
		t.Errorf("code %d, %q", r.code, r.err)
	}
}
