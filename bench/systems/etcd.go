package systems

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// maxTxnOps is what etcd is allowed to take in one transaction; as shipped it
// takes 128.
const maxTxnOps = 10_000

// etcd is three etcd v3 servers. An offset is a key whose value is the number
// as text; a batch is a transaction of puts.
type etcd struct {
	bin string

	dir          string
	nodes        [Nodes]process
	client, peer [Nodes]int
	killed       int
}

func (e *etcd) Durability() Durability {
	return Durability{Write: "synced on 2 of 3", Read: "linearizable"}
}

func (e *etcd) Batches() []Work {
	return []Work{
		{Op: Write, Callers: 16, Batch: 128}, {Op: Write, Callers: 64, Batch: 128},
		{Op: Write, Callers: 16, Batch: 256}, {Op: Write, Callers: 16, Batch: 512}, {Op: Write, Callers: 8, Batch: 1000},
		{Op: Write, Callers: 4, Batch: maxTxnOps},
	}
}

func (e *etcd) Start(ctx context.Context, dir string) error {
	list, err := freePorts(2 * Nodes)
	if err != nil {
		return err
	}
	e.dir = dir
	copy(e.client[:], list[:Nodes])
	copy(e.peer[:], list[Nodes:])
	for i := range e.nodes {
		if err := e.start(i); err != nil {
			return err
		}
	}
	return e.ready(ctx)
}

// start starts a server with what its documents recommend for a cluster:
// nothing but names, addresses and the room that the history of keys needs.
func (e *etcd) start(i int) error {
	var members []string
	for n, port := range e.peer {
		members = append(members, fmt.Sprintf("n%d=http://%s", n+1, local(port)))
	}
	name := fmt.Sprintf("n%d", i+1)
	client, peer := "http://"+local(e.client[i]), "http://"+local(e.peer[i])
	return e.nodes[i].start(e.dir, name, filepath.Join(e.bin, "etcd"), "--name", name, "--data-dir", filepath.Join(e.dir, name),
		"--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", strings.Join(members, ","), "--initial-cluster-state", "new",
		"--quota-backend-bytes", strconv.Itoa(8<<30), "--max-txn-ops", strconv.Itoa(maxTxnOps))
}

// ready waits until all servers say that they are healthy, for which each makes
// a linearizable read.
func (e *etcd) ready(ctx context.Context) error {
	return await(ctx, e.nodes[:], func(ctx context.Context) error {
		for _, port := range e.client {
			if err := serves(ctx, "http://"+local(port)+"/health"); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *etcd) connect() (*clientv3.Client, error) {
	var endpoints []string
	for _, port := range e.client {
		endpoints = append(endpoints, local(port))
	}
	return clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
}

func (e *etcd) Kill(ctx context.Context) (time.Time, error) {
	c, err := e.connect()
	if err != nil {
		return time.Time{}, err
	}
	defer c.Close()
	if err := await(ctx, e.nodes[:], func(ctx context.Context) error { return e.find(ctx, c) }); err != nil {
		return time.Time{}, err
	}
	return e.nodes[e.killed].kill()
}

// find looks for the server that leads, which is to be killed. While another
// one is being elected there is none.
func (e *etcd) find(ctx context.Context, c *clientv3.Client) error {
	for i, port := range e.client {
		s, err := c.Status(ctx, local(port))
		if err != nil {
			return err
		}
		if s.Leader == s.Header.MemberId {
			e.killed = i
			return nil
		}
	}
	return errors.New("no server says that it leads")
}

func (e *etcd) Revive(ctx context.Context) error {
	if err := e.start(e.killed); err != nil {
		return err
	}
	return e.ready(ctx)
}

func (e *etcd) Restart() (time.Time, error) { return restart(e.nodes[:], e.start) }

func (e *etcd) Stop() error { return stopAll(e.nodes[:]) }

// etcdLoad is a Work on etcd.
type etcdLoad struct {
	work    Work
	clients []*clientv3.Client
	keys    [][]string
	// next is the offset that a caller writes next.
	next []int64
}

func (e *etcd) Workload(ctx context.Context, w Work) (Load, error) {
	l := &etcdLoad{work: w, keys: paths(w, "offsets/", "/"), next: make([]int64, w.Callers)}
	for range clients(w) {
		c, err := e.connect()
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.clients = append(l.clients, c)
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

func (l *etcdLoad) Do(ctx context.Context, caller int) error {
	switch l.work.Op {
	case Write:
		return l.write(ctx, caller)
	case ReadGroup:
		group, _, _ := strings.Cut(strings.TrimPrefix(l.keys[caller][0], "offsets/"), "/")
		return l.read(ctx, caller, "offsets/"+group+"/", clientv3.WithPrefix())
	default:
		return l.read(ctx, caller, l.keys[caller][0])
	}
}

func (l *etcdLoad) of(caller int) *clientv3.Client { return l.clients[caller%len(l.clients)] }

func (l *etcdLoad) write(ctx context.Context, caller int) error {
	l.next[caller]++
	value := strconv.FormatInt(l.next[caller], 10)
	keys := l.keys[caller]
	if len(keys) == 1 {
		_, err := l.of(caller).Put(ctx, keys[0], value)
		return err
	}
	puts := make([]clientv3.Op, len(keys))
	for i, k := range keys {
		puts[i] = clientv3.OpPut(k, value)
	}
	_, err := l.of(caller).Txn(ctx).Then(puts...).Commit()
	return err
}

func (l *etcdLoad) read(ctx context.Context, caller int, key string, options ...clientv3.OpOption) error {
	r, err := l.of(caller).Get(ctx, key, options...)
	if err == nil && len(r.Kvs) < l.work.Batch {
		err = fmt.Errorf("%s: %d keys are there, %d were written", key, len(r.Kvs), l.work.Batch)
	}
	return err
}

func (l *etcdLoad) Close() (err error) {
	for _, c := range l.clients {
		err = errors.Join(err, c.Close())
	}
	return err
}
