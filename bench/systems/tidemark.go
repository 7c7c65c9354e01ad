package systems

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// tidemark is three tidemarkd with their default settings.
type tidemark struct {
	// bin holds tidemarkd; store is its log store.
	bin, store string

	dir       string
	nodes     [Nodes]process
	api, peer [Nodes]int
	killed    int
}

func (t *tidemark) Durability() Durability {
	return Durability{Write: "synced on 2 of 3", Read: "linearizable"}
}

func (t *tidemark) Batches() []Work {
	return []Work{
		{Op: Write, Callers: 8, Batch: 1000}, {Op: Write, Callers: 16, Batch: 1000},
		{Op: Write, Callers: 4, Batch: 10_000}, {Op: Write, Callers: 8, Batch: 10_000},
	}
}

func (t *tidemark) Start(ctx context.Context, dir string) error {
	list, err := freePorts(2 * Nodes)
	if err != nil {
		return err
	}
	t.dir = dir
	copy(t.api[:], list[:Nodes])
	copy(t.peer[:], list[Nodes:])
	for i := range t.nodes {
		if err := t.start(i); err != nil {
			return err
		}
	}
	return t.ready(ctx)
}

func (t *tidemark) start(i int) error {
	var founders []string
	for n, port := range t.peer {
		founders = append(founders, fmt.Sprintf("n%d=%s", n+1, local(port)))
	}
	name := fmt.Sprintf("n%d", i+1)
	return t.nodes[i].start(t.dir, name, filepath.Join(t.bin, "tidemarkd"), "--name", name, "--data", filepath.Join(t.dir, name),
		"--listen", local(t.api[i]), "--peer-listen", local(t.peer[i]), "--initial-cluster", strings.Join(founders, ","), "--log-store", t.store)
}

// ready waits until all nodes say that they serve.
func (t *tidemark) ready(ctx context.Context) error {
	return await(ctx, t.nodes[:], func(ctx context.Context) error {
		for _, port := range t.api {
			if err := serves(ctx, "http://"+local(port)+"/readyz"); err != nil {
				return err
			}
		}
		return nil
	})
}

// serves asks a health page, which answers 200 if its server serves.
func serves(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // what was read is good enough
		return fmt.Errorf("%s: %s: %s", url, resp.Status, said)
	}
	return nil
}

func (t *tidemark) client() (*client.Client, error) {
	var seeds []string
	for _, port := range t.api {
		seeds = append(seeds, local(port))
	}
	return client.New(seeds)
}

func (t *tidemark) Kill(ctx context.Context) (time.Time, error) {
	c, err := t.client()
	if err != nil {
		return time.Time{}, err
	}
	defer c.Close()
	page, err := c.List(ctx, offset.List{Limit: 1})
	if err != nil {
		return time.Time{}, err
	}
	t.killed = slices.IndexFunc(t.api[:], func(port int) bool { return local(port) == page.Meta.Leader })
	if t.killed < 0 {
		return time.Time{}, fmt.Errorf("the leader is %q, which is no node", page.Meta.Leader)
	}
	return t.nodes[t.killed].kill()
}

func (t *tidemark) Revive(ctx context.Context) error {
	if err := t.start(t.killed); err != nil {
		return err
	}
	return t.ready(ctx)
}

func (t *tidemark) Restart() (time.Time, error) { return restart(t.nodes[:], t.start) }

func (t *tidemark) Stop() error { return stopAll(t.nodes[:]) }

// tidemarkLoad is a Work on Tidemark.
type tidemarkLoad struct {
	work    Work
	cluster offset.ClusterID
	clients []*client.Client
	keys    [][]offset.Key
	commits [][]offset.Commit
}

func (t *tidemark) Workload(ctx context.Context, w Work) (Load, error) {
	l := &tidemarkLoad{work: w}
	for range clients(w) {
		c, err := t.client()
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.clients = append(l.clients, c)
	}
	page, err := l.clients[0].List(ctx, offset.List{Limit: 1})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.cluster = page.Meta.Cluster
	begin := firstOffset()
	for i := range w.Callers {
		var keys []offset.Key
		var commits []offset.Commit
		for _, k := range w.keys(i) {
			key := offset.Key{Group: k.Group, MessageQueue: offset.MessageQueue{Topic: k.Topic, Broker: k.Broker, QueueID: k.Queue}}
			keys, commits = append(keys, key), append(commits, offset.Commit{Key: key, Offset: begin})
		}
		l.keys, l.commits = append(l.keys, keys), append(l.commits, commits)
	}
	if err := each(w.Callers, func(i int) error { return l.write(ctx, i) }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *tidemarkLoad) Do(ctx context.Context, caller int) error {
	switch l.work.Op {
	case Write:
		return l.write(ctx, caller)
	case ReadGroup:
		return l.readGroup(ctx, caller)
	default:
		return l.read(ctx, caller)
	}
}

func (l *tidemarkLoad) of(caller int) *client.Client { return l.clients[caller%len(l.clients)] }

// write raises the offsets of a caller, each by some.
func (l *tidemarkLoad) write(ctx context.Context, caller int) error {
	list := l.commits[caller]
	for i := range list {
		list[i].Offset += int64(1 + i%7)
	}
	_, _, err := l.of(caller).Commit(ctx, l.cluster, list)
	return err
}

func (l *tidemarkLoad) read(ctx context.Context, caller int) error {
	key := l.keys[caller][0]
	states, _, err := l.of(caller).Fetch(ctx, offset.ReadAt{}, key)
	if err == nil && !states[0].Exists {
		err = fmt.Errorf("%s has no offset", key)
	}
	return err
}

func (l *tidemarkLoad) readGroup(ctx context.Context, caller int) error {
	group := l.keys[caller][0].Group
	page, err := l.of(caller).List(ctx, offset.List{What: offset.ListKeys, Group: group, Limit: l.work.Batch})
	if err == nil && len(page.Keys) < l.work.Batch {
		err = fmt.Errorf("%s: %d offsets are there, %d were written", group, len(page.Keys), l.work.Batch)
	}
	return err
}

func (l *tidemarkLoad) Close() (err error) {
	for _, c := range l.clients {
		err = errors.Join(err, c.Close())
	}
	return err
}
