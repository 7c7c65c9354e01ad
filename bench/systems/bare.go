package systems

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/bench/bareraft"
)

// raftModule is the raft library.
const raftModule = "github.com/hashicorp/raft"

// bare is three nodes of the raft library with a map; its timers are the
// library's. It is the ceiling for Tidemark with the same log store.
type bare struct {
	bin, store string

	dir          string
	nodes        [Nodes]process
	client, peer [Nodes]int
	killed       int
}

func (b *bare) Durability() Durability {
	return Durability{Write: "synced on 2 of 3", Read: "confirmed by a quorum"}
}

func (b *bare) Batches() []Work {
	return []Work{
		{Op: Write, Callers: 8, Batch: 1000}, {Op: Write, Callers: 16, Batch: 1000},
		{Op: Write, Callers: 4, Batch: 10_000}, {Op: Write, Callers: 8, Batch: 10_000},
	}
}

func (b *bare) Start(ctx context.Context, dir string) error {
	list, err := freePorts(2 * Nodes)
	if err != nil {
		return err
	}
	b.dir = dir
	copy(b.client[:], list[:Nodes])
	copy(b.peer[:], list[Nodes:])
	for i := range b.nodes {
		if err := b.start(i); err != nil {
			return err
		}
	}
	return b.ready(ctx)
}

func (b *bare) start(i int) error {
	name := fmt.Sprintf("n%d", i+1)
	return b.nodes[i].start(b.dir, name, filepath.Join(b.bin, "bared"), "--dir", filepath.Join(b.dir, name), "--store", b.store,
		"--listen", local(b.client[i]), "--peer", local(b.peer[i]), "--peers", strings.Join(locals(b.peer), ","))
}

// locals are the addresses of ports.
func locals(ports [Nodes]int) (list []string) {
	for _, p := range ports {
		list = append(list, local(p))
	}
	return list
}

// ready waits until somebody leads and all run.
func (b *bare) ready(ctx context.Context) error {
	c := bareraft.New(locals(b.client))
	defer c.Close()
	return await(ctx, b.nodes[:], func(ctx context.Context) error {
		for i := range b.nodes {
			if !b.nodes[i].running() {
				return errors.New("a node does not run")
			}
		}
		return c.Put(ctx, bareraft.AppendPair(nil, "ready", 1))
	})
}

func (b *bare) Kill(ctx context.Context) (time.Time, error) {
	c := bareraft.New(locals(b.client))
	defer c.Close()
	leader, err := c.Leader(ctx)
	if err != nil {
		return time.Time{}, err
	}
	b.killed = slices.Index(locals(b.client), leader)
	return b.nodes[b.killed].kill()
}

// Revive does not wait until the killed one has the log, which nobody can ask:
// it takes a moment, while the other two go on.
func (b *bare) Revive(ctx context.Context) error {
	if err := b.start(b.killed); err != nil {
		return err
	}
	return b.ready(ctx)
}

func (b *bare) Stop() error { return stopAll(b.nodes[:]) }

// bareLoad is a Work on the bare library.
type bareLoad struct {
	work    Work
	clients []*bareraft.Client
	keys    [][]string
	// next is the offset that a caller writes next.
	next []uint64
}

func (b *bare) Workload(ctx context.Context, w Work) (Load, error) {
	if w.Op == ReadGroup {
		return nil, ErrNotOffered
	}
	l := &bareLoad{work: w, keys: paths(w, "", "/"), next: make([]uint64, w.Callers)}
	for range clients(w) {
		l.clients = append(l.clients, bareraft.New(locals(b.client)))
	}
	begin := uint64(firstOffset())
	for i := range l.next {
		l.next[i] = begin
	}
	if err := each(w.Callers, func(i int) error { return l.write(ctx, i) }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *bareLoad) of(caller int) *bareraft.Client { return l.clients[caller%len(l.clients)] }

func (l *bareLoad) Do(ctx context.Context, caller int) error {
	if l.work.Op == Write {
		return l.write(ctx, caller)
	}
	_, err := l.of(caller).Get(ctx, l.keys[caller][0])
	return err
}

func (l *bareLoad) write(ctx context.Context, caller int) error {
	l.next[caller]++
	var body []byte
	for _, k := range l.keys[caller] {
		body = bareraft.AppendPair(body, k, l.next[caller])
	}
	return l.of(caller).Put(ctx, body)
}

func (l *bareLoad) Close() (err error) {
	for _, c := range l.clients {
		err = errors.Join(err, c.Close())
	}
	return err
}
