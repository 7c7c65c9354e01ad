package store

import (
	"encoding/binary"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// counting is the smallest FSM: how many commands it has applied.
type counting struct {
	mu sync.Mutex
	n  uint64
}

func (c *counting) Apply(*raft.Log) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

func (c *counting) Snapshot() (raft.FSMSnapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return counted(c.n), nil
}

func (c *counting) Restore(r io.ReadCloser) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n = binary.BigEndian.Uint64(data)
	return nil
}

type counted uint64

func (c counted) Persist(sink raft.SnapshotSink) error {
	_, err := sink.Write(binary.BigEndian.AppendUint64(nil, uint64(c)))
	return err
}

func (counted) Release() {}

// follower is a real raft node over a store, which the test speaks to as its
// peers. It never stands for election within a test.
type follower struct {
	raft  *raft.Raft
	fsm   *counting
	trans *raft.InmemTransport
	peers map[string]*raft.InmemTransport
}

func startFollower(t *testing.T, s *Store) *follower {
	t.Helper()
	f, err := newFollower(s)
	if err != nil {
		t.Fatalf("starting raft: %v", err)
	}
	t.Cleanup(f.stop)
	return f
}

func newFollower(s *Store) (*follower, error) {
	f := &follower{fsm: &counting{}, peers: map[string]*raft.InmemTransport{}}
	_, f.trans = raft.NewInmemTransport("voter")
	for _, id := range []string{"A", "B"} {
		_, peer := raft.NewInmemTransport(raft.ServerAddress(id))
		peer.Connect("voter", f.trans)
		f.trans.Connect(raft.ServerAddress(id), peer)
		f.peers[id] = peer
	}
	conf := raft.DefaultConfig()
	conf.LocalID = "voter"
	conf.HeartbeatTimeout, conf.ElectionTimeout, conf.LeaderLeaseTimeout = time.Hour, time.Hour, time.Hour
	conf.Logger = hclog.NewNullLogger()
	var err error
	f.raft, err = raft.NewRaft(conf, f.fsm, s.Log(), s.Stable(), s.Snapshots(), f.trans)
	return f, err
}

func (f *follower) stop() {
	_ = f.trans.Close()
	_ = f.raft.Shutdown().Error()
}

func header(id string) raft.RPCHeader {
	return raft.RPCHeader{ProtocolVersion: 3, ID: []byte(id), Addr: []byte(id)}
}

// ask asks for a vote as the named peer, whose log ends as given.
func (f *follower) ask(t *testing.T, id string, term, lastIndex, lastTerm uint64) bool {
	t.Helper()
	var resp raft.RequestVoteResponse
	err := f.peers[id].RequestVote("voter", "voter", &raft.RequestVoteRequest{
		RPCHeader: header(id), Term: term, LastLogIndex: lastIndex, LastLogTerm: lastTerm,
	}, &resp)
	if err != nil {
		t.Fatalf("asking for a vote: %v", err)
	}
	return resp.Granted
}

// lead sends entries as the named leader.
func (f *follower) lead(t *testing.T, id string, term, prevIndex, prevTerm uint64, logs []*raft.Log) bool {
	t.Helper()
	var resp raft.AppendEntriesResponse
	err := f.peers[id].AppendEntries("voter", "voter", &raft.AppendEntriesRequest{
		RPCHeader: header(id), Term: term, PrevLogEntry: prevIndex, PrevLogTerm: prevTerm, Entries: logs,
	}, &resp)
	return err == nil && resp.Success
}

// bootstrapped gives a store the configuration and 49 entries of terms 2 to 5.
func bootstrapped(t *testing.T, s *Store) {
	t.Helper()
	mustAppend(t, s, []*raft.Log{{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(members)}})
	mustAppend(t, s, entries(2, 20, 2))
	mustAppend(t, s, entries(21, 50, 5))
	must(t, s.Stable().SetUint64([]byte(keyCurrentTerm), 5))
}

// commit sends entry index, which follows entry index-1 of term 5, and that it is
// committed.
func commit(t *testing.T, f *follower, index uint64) {
	t.Helper()
	if !f.lead(t, "A", 6, index-1, 5, entries(index, index, 6)) {
		t.Fatal("entry rejected")
	}
	var resp raft.AppendEntriesResponse
	err := f.peers["A"].AppendEntries("voter", "voter", &raft.AppendEntriesRequest{
		RPCHeader: header("A"), Term: 6, PrevLogEntry: index, PrevLogTerm: 6, LeaderCommitIndex: index,
	}, &resp)
	if err != nil || !resp.Success {
		t.Fatalf("commit rejected: %+v, %v", resp, err)
	}
}
