package systems

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// bucket is the name of the key-value bucket, stream the stream that it is,
// subjects what its keys stand below.
const (
	bucket   = "offsets"
	stream   = "KV_" + bucket
	subjects = "$KV." + bucket + "."
)

// natsModule is the module that nats-server is in.
const natsModule = "github.com/nats-io/nats-server/v2"

// always makes a server sync each write before it is answered.
const always = "always"

// natsKV is three nats-server with JetStream, and a key-value bucket of three
// replicas. An offset is a key whose value is the number as text.
type natsKV struct {
	bin string
	// sync is its sync_interval; empty is the default, 2 minutes.
	sync string

	dir                   string
	nodes                 [Nodes]process
	client, routes, pages [Nodes]int
	killed                int
}

func (n *natsKV) Durability() Durability {
	d := Durability{Write: "R3, in memory on 2 of 3, NOT synced", Read: "NOT linearizable: any replica answers"}
	if n.sync == always {
		d.Write = "R3, sync_interval always: synced on 2 of 3"
	}
	return d
}

func (n *natsKV) Batches() []Work {
	return []Work{
		{Op: Write, Callers: 16, Batch: 100, Way: async}, {Op: Write, Callers: 4, Batch: 1000, Way: async},
		{Op: Write, Callers: 4, Batch: 1000, Way: atomic}, {Op: Write, Callers: 16, Batch: 1000, Way: atomic},
		{Op: Write, Callers: 4, Batch: 1000, Way: fast}, {Op: Write, Callers: 16, Batch: 1000, Way: fast},
	}
}

func (n *natsKV) Start(ctx context.Context, dir string) error {
	list, err := freePorts(3 * Nodes)
	if err != nil {
		return err
	}
	n.dir = dir
	copy(n.client[:], list[:Nodes])
	copy(n.routes[:], list[Nodes:])
	copy(n.pages[:], list[2*Nodes:])
	for i := range n.nodes {
		if err := os.WriteFile(n.config(i), []byte(n.settings(i)), 0o600); err != nil {
			return err
		}
		if err := n.start(i); err != nil {
			return err
		}
	}
	if err := n.ready(ctx); err != nil {
		return err
	}
	return await(ctx, n.nodes[:], n.create)
}

// config is the file that a server is configured by.
func (n *natsKV) config(i int) string { return filepath.Join(n.dir, fmt.Sprintf("n%d.conf", i+1)) }

// settings are what the documents show for a cluster with JetStream, and when
// to sync.
func (n *natsKV) settings(i int) string {
	var routes []string
	for _, port := range n.routes {
		routes = append(routes, "nats-route://"+local(port))
	}
	sync := ""
	if n.sync != "" {
		sync = ", sync_interval: " + n.sync
	}
	return fmt.Sprintf(`server_name: n%d
listen: %q
http: %q
jetstream { store_dir: %q%s }
cluster { name: bench, listen: %q, routes: [%s] }
`, i+1, local(n.client[i]), local(n.pages[i]), filepath.Join(n.dir, fmt.Sprintf("n%d", i+1)), sync, local(n.routes[i]), strings.Join(routes, ", "))
}

func (n *natsKV) start(i int) error {
	return n.nodes[i].start(n.dir, fmt.Sprintf("n%d", i+1), filepath.Join(n.bin, "nats-server"), "--config", n.config(i))
}

// ready waits until all servers say that they and their part of the bucket are healthy.
func (n *natsKV) ready(ctx context.Context) error {
	return await(ctx, n.nodes[:], func(ctx context.Context) error {
		for _, port := range n.pages {
			if err := serves(ctx, "http://"+local(port)+"/healthz"); err != nil {
				return err
			}
		}
		return nil
	})
}

// create makes the bucket, and lets its stream take batches.
func (n *natsKV) create(ctx context.Context) error {
	nc, js, err := n.connect(1)
	if err != nil {
		return err
	}
	defer nc.Close()
	if _, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket, Replicas: Nodes, Storage: jetstream.FileStorage}); err != nil {
		return fmt.Errorf("making the bucket: %w", err)
	}
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return err
	}
	config := s.CachedInfo().Config
	config.AllowAtomicPublish, config.AllowBatchPublish = true, true
	if _, err := js.UpdateStream(ctx, config); err != nil {
		return fmt.Errorf("allowing batches: %w", err)
	}
	return nil
}

// connect makes a client that may have so many asynchronous messages under way.
func (n *natsKV) connect(pending int) (*nats.Conn, jetstream.JetStream, error) {
	var urls []string
	for _, port := range n.client {
		urls = append(urls, "nats://"+local(port))
	}
	nc, err := nats.Connect(strings.Join(urls, ","), nats.MaxReconnects(-1))
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(pending))
	if err != nil {
		nc.Close()
	}
	return nc, js, err
}

func (n *natsKV) Kill(ctx context.Context) (time.Time, error) {
	if err := await(ctx, n.nodes[:], n.find); err != nil {
		return time.Time{}, err
	}
	return n.nodes[n.killed].kill()
}

// find looks for the server that leads the bucket, which is to be killed. While
// another one is being elected there is none.
func (n *natsKV) find(ctx context.Context) error {
	cluster, err := n.replicas(ctx)
	if err != nil {
		return err
	}
	leader := cluster.Leader
	if n.killed = slices.Index([]string{"n1", "n2", "n3"}, leader); n.killed < 0 {
		return fmt.Errorf("the bucket's leader is %q, which is no server", leader)
	}
	return nil
}

// replicas asks who leads the bucket and how far the others are.
func (n *natsKV) replicas(ctx context.Context) (*jetstream.ClusterInfo, error) {
	nc, js, err := n.connect(1)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return nil, err
	}
	return s.CachedInfo().Cluster, nil
}

func (n *natsKV) Revive(ctx context.Context) error {
	if err := n.start(n.killed); err != nil {
		return err
	}
	if err := n.ready(ctx); err != nil {
		return err
	}
	return await(ctx, n.nodes[:], n.whole)
}

// whole tells whether all replicas of the bucket have what its leader has.
func (n *natsKV) whole(ctx context.Context) error {
	cluster, err := n.replicas(ctx)
	if err != nil {
		return err
	}
	for _, r := range cluster.Replicas {
		// What is written meanwhile is always a little ahead of the others.
		if r.Offline || !r.Current && r.Lag > 1000 {
			return errors.New("the replica " + r.Name + " has not caught up")
		}
	}
	return nil
}

func (n *natsKV) Restart() (time.Time, error) { return restart(n.nodes[:], n.start) }

func (n *natsKV) Stop() error { return stopAll(n.nodes[:]) }
