package bareraft

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	wal "github.com/hashicorp/raft-wal"
	"go.etcd.io/bbolt"
)

// Config is what a node needs.
type Config struct {
	// Dir is its folder; Store is boltdb or wal.
	Dir, Store string
	// Listen is where it answers; Peer is its raft address, one of Peers.
	Listen, Peer string
	Peers        []string
}

// Run runs a node until the context ends. All nodes of a cluster that is new
// may be started at once.
func Run(ctx context.Context, c Config) error {
	logs, stable, err := open(c)
	if err != nil {
		return err
	}
	log := hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr})
	transport, err := raft.NewTCPTransportWithLogger(c.Peer, nil, 3, 10*time.Second, log)
	if err != nil {
		return err
	}
	cached, err := raft.NewLogCache(512, logs)
	if err != nil {
		return err
	}
	config := raft.DefaultConfig()
	config.LocalID, config.Logger, config.SnapshotThreshold = raft.ServerID(c.Peer), log, math.MaxUint64
	state := &table{offsets: map[string]*uint64{}}
	r, err := raft.NewRaft(config, state, cached, stable, raft.NewDiscardSnapshotStore(), transport)
	if err != nil {
		return err
	}
	var servers []raft.Server
	for _, p := range c.Peers {
		servers = append(servers, raft.Server{ID: raft.ServerID(p), Address: raft.ServerAddress(p)})
	}
	if err := r.BootstrapCluster(raft.Configuration{Servers: servers}).Error(); err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
		return err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	err = newServer(r, state).serve(ctx, listener)
	return errors.Join(err, r.Shutdown().Error())
}

// open opens the log store with the options that Tidemark uses with it, and
// what keeps term and vote: boltdb with both.
func open(c Config) (raft.LogStore, raft.StableStore, error) {
	if err := os.MkdirAll(filepath.Join(c.Dir, "wal"), 0o700); err != nil {
		return nil, nil, err
	}
	bolt, err := raftboltdb.New(raftboltdb.Options{
		Path:        filepath.Join(c.Dir, "raft.db"),
		BoltOptions: &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, InitialMmapSize: 1 << 30},
	})
	if err != nil || c.Store == "boltdb" {
		return bolt, bolt, err
	}
	if c.Store != "wal" {
		return nil, nil, fmt.Errorf("no log store is called %q; there are boltdb and wal", c.Store)
	}
	segments, err := wal.Open(filepath.Join(c.Dir, "wal"))
	return segments, bolt, err
}
