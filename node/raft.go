package node

import (
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// raftConfig is raft's configuration. Snapshots are ours to trigger (snapshots.go),
// so its own thresholds are out of reach; a removed member stops itself
// (watch.go), so raft must not. log takes its messages.
func raftConfig(c *Config, id string, notify chan<- bool, log hclog.Logger) *raft.Config {
	r := raft.DefaultConfig()
	r.LocalID = raft.ServerID(id)
	r.HeartbeatTimeout = c.Timers.Heartbeat
	r.ElectionTimeout = c.Timers.Election
	r.LeaderLeaseTimeout = c.Timers.Lease
	r.CommitTimeout = c.Timers.Commit
	r.MaxAppendEntries = c.MaxAppendEntries
	r.BatchApplyCh = true
	r.SnapshotInterval = 24 * time.Hour
	r.SnapshotThreshold = 1 << 62
	r.TrailingLogs = 1 << 20
	r.ShutdownOnRemove = false
	r.NoLegacyTelemetry = true
	r.NotifyCh = notify
	r.Logger = log
	return r
}
