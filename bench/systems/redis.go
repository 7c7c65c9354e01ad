package systems

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisKV is a Redis primary with two replicas, of the redis-server that is
// installed. A group is a hash, an offset a field of it whose value is the
// number as text. Nobody takes over by itself from a primary that has ended.
type redisKV struct {
	dir   string
	nodes [Nodes]process
	ports [Nodes]int
}

func (r *redisKV) Durability() Durability {
	return Durability{Write: "synced on the primary, in memory on 1 replica (WAIT 1), NOT synced there", Read: "of the primary, NOT confirmed by a quorum"}
}

func (r *redisKV) Batches() []Work {
	return []Work{
		{Op: Write, Callers: 16, Batch: 100}, {Op: Write, Callers: 8, Batch: 1000},
		{Op: Write, Callers: 16, Batch: 1000}, {Op: Write, Callers: 4, Batch: 10_000},
	}
}

func (r *redisKV) Start(ctx context.Context, dir string) error {
	list, err := freePorts(Nodes)
	if err != nil {
		return err
	}
	r.dir = dir
	copy(r.ports[:], list)
	for i := range r.nodes {
		if err := r.start(i); err != nil {
			return err
		}
	}
	return r.ready(ctx)
}

// start starts the primary (0) or a replica. The primary syncs each write to
// its file before it is answered; there are no snapshots beside.
func (r *redisKV) start(i int) error {
	name := fmt.Sprintf("n%d", i+1)
	data := filepath.Join(r.dir, name)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	args := []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(r.ports[i]), "--dir", data, "--save", "", "--appendonly", "yes"}
	if i == 0 {
		args = append(args, "--appendfsync", "always")
	} else {
		args = append(args, "--replicaof", "127.0.0.1", strconv.Itoa(r.ports[0]))
	}
	return r.nodes[i].start(r.dir, name, redisServer, args...)
}

// redisServer is the program, which has to be on the path.
const redisServer = "redis-server"

// ready waits until the primary has both replicas.
func (r *redisKV) ready(ctx context.Context) error {
	c := r.client(1)
	defer c.Close()
	return await(ctx, r.nodes[:], func(ctx context.Context) error {
		info, err := c.Info(ctx, "replication").Result()
		if err == nil && strings.Count(info, "state=online") < Nodes-1 {
			err = errors.New("the primary has not both replicas yet")
		}
		return err
	})
}

// client makes a client that may use so many connections at once.
func (r *redisKV) client(connections int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: local(r.ports[0]), PoolSize: connections, MaxRetries: -1})
}

// Kill does nothing: there is no failover to be measured.
func (r *redisKV) Kill(context.Context) (time.Time, error) { return time.Time{}, ErrNotOffered }

// Revive does nothing.
func (r *redisKV) Revive(context.Context) error { return nil }

func (r *redisKV) Stop() error { return stopAll(r.nodes[:]) }

// redisLoad is a Work on Redis.
type redisLoad struct {
	work    Work
	clients []*redis.Client
	groups  []string
	fields  [][]string
	// next is the offset that a caller writes next.
	next []int64
}

func (r *redisKV) Workload(ctx context.Context, w Work) (Load, error) {
	l := &redisLoad{work: w, next: make([]int64, w.Callers)}
	n := clients(w)
	for range n {
		// Each caller waits on a connection of its own (WAIT counts for one):
		// as shipped a client has ten for each core.
		l.clients = append(l.clients, r.client(w.Callers/n))
	}
	begin := firstOffset()
	for i := range l.next {
		l.next[i] = begin
		keys := w.keys(i)
		var fields []string
		for _, k := range keys {
			fields = append(fields, fmt.Sprintf("%s/%s/%d", k.Topic, k.Broker, k.Queue))
		}
		l.groups, l.fields = append(l.groups, keys[0].Group), append(l.fields, fields)
	}
	if err := each(w.Callers, func(i int) error { return l.write(ctx, i) }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *redisLoad) of(caller int) *redis.Client { return l.clients[caller%len(l.clients)] }

func (l *redisLoad) Do(ctx context.Context, caller int) error {
	switch l.work.Op {
	case Write:
		return l.write(ctx, caller)
	case ReadGroup:
		all, err := l.of(caller).HGetAll(ctx, l.groups[caller]).Result()
		if err == nil && len(all) < l.work.Batch {
			err = fmt.Errorf("%d offsets are there, %d were written", len(all), l.work.Batch)
		}
		return err
	default:
		return l.of(caller).HGet(ctx, l.groups[caller], l.fields[caller][0]).Err()
	}
}

// waitTime is how long a write waits for a replica.
const waitTime = 5 * time.Second

// write sets the fields and waits for a replica, in one exchange.
func (l *redisLoad) write(ctx context.Context, caller int) error {
	l.next[caller]++
	values := make([]any, 0, 2*l.work.Batch)
	for _, f := range l.fields[caller] {
		values = append(values, f, l.next[caller])
	}
	exchange := l.of(caller).Pipeline()
	exchange.HSet(ctx, l.groups[caller], values...)
	replicas := exchange.Do(ctx, "wait", 1, waitTime.Milliseconds())
	if _, err := exchange.Exec(ctx); err != nil {
		return err
	}
	n, err := replicas.Int()
	if err == nil && n < 1 {
		err = errors.New("no replica has it")
	}
	return err
}

func (l *redisLoad) Close() (err error) {
	for _, c := range l.clients {
		err = errors.Join(err, c.Close())
	}
	return err
}
