package server

import (
	"context"
	"slices"
	"sync"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
)

// fake is a Service in memory: commits and sets on a map, with no epochs but 1.
type fake struct {
	mu    sync.Mutex
	keys  map[offset.Key]offset.Position
	index uint64
	seen  []auth.Principal
	acts  []*offset.Act
	lists []*offset.List

	// before runs at the start of each Commit, Set and Fetch; its error is the answer.
	before func(ctx context.Context, method string) error
	act    func(ctx context.Context, a *offset.Act) (offset.ActResult, error)
	ready  error
	live   error
}

var fakeCluster = offset.ClusterID{15: 9}

func newFake() *fake { return &fake{keys: map[offset.Key]offset.Position{}} }

func (f *fake) enter(ctx context.Context, p auth.Principal, method string) error {
	f.mu.Lock()
	f.seen = append(f.seen, p)
	before := f.before
	f.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(ctx, method)
}

func (f *fake) meta() offset.Meta {
	return offset.Meta{Cluster: fakeCluster, Index: f.index, Leader: "n1:7411"}
}

func (f *fake) state(k offset.Key) offset.KeyState {
	p, ok := f.keys[k]
	return offset.KeyState{Exists: ok, Position: p, Epoch: 1}
}

func (f *fake) Commit(ctx context.Context, p auth.Principal, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	if err := f.enter(ctx, p, "commit"); err != nil {
		return nil, offset.Meta{}, err
	}
	if err := c.Validate(); err != nil {
		return nil, offset.Meta{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index++
	var out []offset.Verdict
	for _, t := range c.Topics {
		for _, q := range t.Queues {
			k := offset.Key{Group: t.Group, MessageQueue: offset.MessageQueue{Topic: t.Topic, Broker: t.Broker, QueueID: q.QueueID}}
			if q.Epoch != 1 || c.Cluster != fakeCluster {
				out = append(out, offset.Verdict{Code: offset.CodeFenced, State: f.state(k)})
				continue
			}
			if old, ok := f.keys[k]; !ok || q.Offset > old.Offset {
				f.keys[k] = offset.Position{Offset: q.Offset, Index: f.index, Epoch: 1}
			}
			out = append(out, offset.Verdict{State: f.state(k)})
		}
	}
	return out, f.meta(), nil
}

func (f *fake) Set(ctx context.Context, p auth.Principal, s *offset.Set) (offset.Verdict, offset.Meta, error) {
	if err := f.enter(ctx, p, "set"); err != nil {
		return offset.Verdict{}, offset.Meta{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index++
	if old, ok := f.keys[s.Key]; ok != s.Exists || ok && old.Offset != s.Replaces {
		return offset.Verdict{Code: offset.CodeFenced, State: f.state(s.Key)}, f.meta(), nil
	}
	f.keys[s.Key] = offset.Position{Offset: s.Offset, Index: f.index, Epoch: 1, Pending: s.Operator}
	return offset.Verdict{State: f.state(s.Key)}, f.meta(), nil
}

func (f *fake) Act(ctx context.Context, p auth.Principal, a *offset.Act) (offset.ActResult, offset.Meta, error) {
	if err := f.enter(ctx, p, "act"); err != nil {
		return offset.ActResult{}, offset.Meta{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.acts = append(f.acts, a)
	if f.act != nil {
		r, err := f.act(ctx, a)
		return r, f.meta(), err
	}
	f.index++
	r := offset.ActResult{Index: f.index, Done: true}
	if a.Remove != nil {
		for k := range f.keys {
			if k.Group == a.Remove.Scope.Group {
				delete(f.keys, k)
				r.Changed++
			}
		}
	}
	return r, f.meta(), nil
}

func (f *fake) Fetch(ctx context.Context, p auth.Principal, r *offset.Fetch) ([]offset.KeyState, offset.Meta, error) {
	if err := f.enter(ctx, p, "fetch"); err != nil {
		return nil, offset.Meta{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []offset.KeyState
	for _, k := range r.Keys {
		out = append(out, f.state(k))
	}
	return out, f.meta(), nil
}

func (f *fake) sorted(l *offset.List) []offset.KeyedState {
	var rows []offset.KeyedState
	for k := range f.keys {
		if (l.Group == "" || k.Group == l.Group) && (l.Topic == "" || k.Topic == l.Topic) {
			rows = append(rows, offset.KeyedState{Key: k, KeyState: f.state(k)})
		}
	}
	slices.SortFunc(rows, func(a, b offset.KeyedState) int { return a.Key.Compare(b.Key) })
	return rows
}

func (f *fake) List(ctx context.Context, p auth.Principal, l *offset.List) (offset.Page, error) {
	if err := f.enter(ctx, p, "list"); err != nil {
		return offset.Page{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists = append(f.lists, l)
	page := offset.Page{Meta: f.meta()}
	for _, r := range f.sorted(l) {
		if l.What == offset.ListKeys {
			page.Keys = append(page.Keys, r)
		} else if !slices.Contains(page.Names, r.Key.Group) {
			page.Names = append(page.Names, r.Key.Group)
		}
	}
	return page, nil
}

func (f *fake) Claims(ctx context.Context, p auth.Principal, c *offset.Claims) ([]offset.Claim, offset.Meta, error) {
	if err := f.enter(ctx, p, "claims"); err != nil {
		return nil, offset.Meta{}, err
	}
	return []offset.Claim{{ByBroker: c.ByBroker, Name: c.Name, Holder: "h", Index: 7}}, f.meta(), nil
}

func (f *fake) Export(ctx context.Context, p auth.Principal, l *offset.List, yield func(offset.Page) error) error {
	if err := f.enter(ctx, p, "export"); err != nil {
		return err
	}
	f.mu.Lock()
	page := offset.Page{Meta: f.meta(), Keys: f.sorted(l)}
	f.mu.Unlock()
	return yield(page)
}

func (f *fake) Status(ctx context.Context, p auth.Principal, _ bool) (offset.Status, error) {
	if err := f.enter(ctx, p, "status"); err != nil {
		return offset.Status{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return offset.Status{Meta: f.meta(), NodeID: "n1/aa", State: "leader", Queues: uint64(len(f.keys))}, nil
}

func (f *fake) AddMember(ctx context.Context, p auth.Principal, id, address string) (offset.Meta, error) {
	if id == "" {
		return offset.Meta{}, offset.Errorf(offset.ErrInvalid, "id is empty")
	}
	return f.meta(), f.enter(ctx, p, "add "+id+" "+address)
}

func (f *fake) PromoteMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return f.meta(), f.enter(ctx, p, "promote "+id)
}

func (f *fake) RemoveMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return f.meta(), f.enter(ctx, p, "remove "+id)
}

func (f *fake) Transfer(ctx context.Context, p auth.Principal, to string) (string, offset.Meta, error) {
	return "n2/bb", f.meta(), f.enter(ctx, p, "transfer "+to)
}

func (f *fake) Snapshot(ctx context.Context, p auth.Principal) (uint64, uint64, offset.Meta, error) {
	return 7, 1234, f.meta(), f.enter(ctx, p, "snapshot")
}

func (f *fake) Backup(ctx context.Context, p auth.Principal, at offset.ReadAt, yield func(offset.BackupPart) error) error {
	if err := f.enter(ctx, p, "backup "+at.Level.String()); err != nil {
		return err
	}
	for _, data := range []string{"one ", "backup"} {
		if err := yield(offset.BackupPart{Meta: f.meta(), Queues: 3, Data: []byte(data)}); err != nil {
			return err
		}
	}
	return nil
}

func (f *fake) RaiseLevel(ctx context.Context, p auth.Principal, level uint8) (offset.Meta, error) {
	return f.meta(), f.enter(ctx, p, "raise")
}

func (f *fake) Ready() error   { return f.ready }
func (f *fake) Live() error    { return f.live }
func (f *fake) Leader() string { return "n1:7411" }

var _ Service = (*fake)(nil)
