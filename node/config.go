package node

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// Config configures a member. The zero value of a field that is not required means
// the default named next to it.
type Config struct {
	// Name is the member's name within its cluster: letters, digits, '.', '-'
	// and '_'. Required.
	Name string
	// Dir is the data folder. It is made if it does not exist; its parent must
	// exist. Required.
	Dir string

	// Alone is a member without a network, such as one inside another program:
	// it founds a cluster of its own, and nobody can be added to it. PeerListener,
	// Dial, AdvertisePeer and InitialCluster are not set then. Started over the
	// same folder with a network, it continues as the first member of a cluster
	// that can grow; a member of several is refused alone.
	Alone bool
	// PeerListener accepts raft and peer calls; Run closes it. Required unless Alone is set.
	PeerListener net.Listener
	// Dial reaches the peer address of another member. Names are resolved at
	// each call. Default: TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// PeerTLS is what members show one another. Nil: they speak in cleartext.
	PeerTLS *certs.Members
	// AdvertisePeer is the host:port at which the other members reach
	// PeerListener. It may be another one at each start: the only voter moves in
	// its configuration by itself, a member of several by AddMember.
	// Default: the listener's own address.
	AdvertisePeer string
	// AdvertiseAPI is the host:port at which clients reach this member, as
	// answers name it. Required unless Alone is set.
	AdvertiseAPI string
	// InitialCluster names the founders, this member among them. It is looked
	// at only while the data folder is empty. Empty: the member waits to be
	// added to a cluster by an operator.
	InitialCluster []Founder

	// LogStore is how raft's log is kept in Dir, which keeps the one that it was
	// made with: to change it, the member is removed and added again. Default:
	// store.LogBoltDB.
	LogStore store.LogStore

	// Timers are raft's. Default: LAN.
	Timers Timers
	// MaxAppendEntries is how many entries one append to a follower carries.
	// There is no other bound on its bytes. Default: 16.
	MaxAppendEntries int
	// SealBytes is the size at which an entry is sealed. Default: 128 KiB.
	SealBytes int
	// InFlight is how many entries are proposed and not yet answered at any
	// time, 1 to 16. Default: 3 (BenchmarkInFlight).
	InFlight int
	// Timeout bounds a request whose context has no deadline. Default: 5 s.
	Timeout time.Duration

	// Limits bound what the cluster keeps and what waits here.
	Limits Limits
	// Snapshots say when the log is cut.
	Snapshots Snapshots
	// Checkpoints say how often members compare their states.
	Checkpoints Checkpoints

	// Policy decides who may do what. Default: auth.AllowAll.
	Policy auth.Policy
	// Logger takes messages. Default: none.
	Logger hclog.Logger
	// Clock is the clock that stamps entries while this member leads. It
	// decides nothing. Default: time.Now.
	Clock func() time.Time
	// Version is the build's, for status.
	Version string

	// OnEntry gets the cost of each log entry that this member proposed as the
	// leader, once its callers have their answers; OnWrite gets each write of log,
	// term and vote: how long it took, syncs included, and how many bytes of entries
	// it carried. Each must return at once. OnEntry is called by one goroutine at a
	// time, OnWrite by several. Nil: not called.
	OnEntry func(EntryCost)
	OnWrite func(took time.Duration, bytes int)

	// Unsafe takes remedies away, for tests that show what they are for.
	Unsafe Unsafe
}

// Founder is one member of a cluster that is founded: its name and the
// host:port of its raft port.
type Founder struct {
	Name, Peer string
}

// Timers are those of raft, the same on all members.
type Timers struct {
	// Heartbeat is how long a follower waits for a leader before it stands for
	// election, Election how long a candidate waits for votes, at least: it waits
	// longer where the disk is slow.
	Heartbeat, Election time.Duration
	// Lease is how long a leader continues without a quorum. At most Heartbeat.
	Lease time.Duration
	// Commit is how late an idle follower learns the commit index.
	Commit time.Duration
}

// LAN are the timers for a network and disks that answer in milliseconds.
func LAN() Timers {
	const t = 300 * time.Millisecond
	return Timers{Heartbeat: t, Election: t, Lease: t, Commit: 15 * time.Millisecond}
}

// SlowDisk are the timers for machines that stand still for up to a second, as
// virtual ones may; failover takes about three times as long. A slow disk alone
// does not need them (docs/operations.md).
func SlowDisk() Timers {
	return Timers{Heartbeat: time.Second, Election: time.Second, Lease: time.Second, Commit: 20 * time.Millisecond}
}

// SyncLimit is how long a sync of the disk may take, at the 99th percentile,
// before it is reported as slow: a third of the lease. An election has to wait for
// several.
func (t Timers) SyncLimit() time.Duration { return t.Lease / 3 }

// TimersNamed returns the preset of that name, "lan" or "slow-disk".
func TimersNamed(preset string) (Timers, error) {
	switch preset {
	case "lan":
		return LAN(), nil
	case "slow-disk":
		return SlowDisk(), nil
	}
	return Timers{}, offset.Errorf(offset.ErrInvalid, "timers %q are unknown; use lan or slow-disk", preset)
}

// Limits bound what the cluster keeps and what waits in this member. They are
// checked before proposing, by the leader's configuration alone.
type Limits struct {
	// Groups and Queues are how many the table may hold. A request that would
	// add more is ErrLimit. Default: 1,000,000 and 20,000,000.
	Groups, Queues uint64
	// Prefixes bound the queues of all groups whose name begins so. At most 64.
	Prefixes []PrefixLimit
	// Waiting is how many requests wait to be proposed; further ones are
	// ErrBusy. Default: 8,192.
	Waiting int
	// Reads is how many reads wait for a leadership confirmation; further ones
	// are ErrBusy. Default: 65,536.
	Reads int
}

// PrefixLimit bounds the queues of the groups whose name begins with Prefix.
type PrefixLimit struct {
	Prefix string
	Queues uint64
}

// Snapshots say when a snapshot is taken and how much of the log before it is kept.
type Snapshots struct {
	// LogBytes is how much log is written between two snapshots, at least;
	// twice the last snapshot's size counts if that is more. Followers take
	// theirs at smaller fractions than the leader. Default: 256 MiB.
	LogBytes uint64
	// TrailingBytes is how much log before a snapshot is kept for followers
	// that lag, at least; never less than what was written during the last
	// snapshot. Default: 64 MiB.
	TrailingBytes uint64
	// Replay is the longest time that replaying the log at a restart may take;
	// LogBytes is lowered to what was measured to fit. Default: 10 s.
	Replay time.Duration
}

// Checkpoints say how often the leader has the members compare their states.
type Checkpoints struct {
	// Entries and Bytes are how much is proposed between two checkpoints at
	// most, whichever is reached first. Default: 20,000 entries, 64 MiB.
	Entries, Bytes uint64
	// Wait is how long a member waits for the digests of the others before it
	// judges by those it has. Default: 5 s.
	Wait time.Duration
}

// Unsafe switches remedies off, each against one trap of the library, so that
// a test can show what goes wrong without it. Never set one in earnest.
type Unsafe struct {
	// HeartbeatFastPath lets raft handle heartbeats outside its main loop.
	HeartbeatFastPath bool
	// HeartbeatsWait has heartbeats wait for raft's main loop, however long that
	// writes to the disk.
	HeartbeatsWait bool
	// ImpatientVotes gives an election up after the election timeout, however long
	// the writes of votes take.
	ImpatientVotes bool
	// LibraryVerify confirms reads by raft's VerifyLeader alone.
	LibraryVerify bool
	// RawTransfer hands leadership over as the library does: it neither stops
	// proposing, nor asks whether the target has caught up, nor watches.
	RawTransfer bool
	// BlindFutures awaits raft's futures without watching for a stop.
	BlindFutures bool
	// WaitForCommitIndex has a follower's read wait for the leader's commit
	// index instead of the last command's.
	WaitForCommitIndex bool
	// LibraryAppends leaves MaxAppendEntries at the library's 64.
	LibraryAppends bool
	// Digest replaces what is noted at checkpoints, as a state that has gone
	// wrong would. Nil: nothing does.
	Digest func(offset.Digest) offset.Digest
	// Store are the remedies of the member's disk.
	Store store.Unsafe
}

// withDefaults fills what is not set.
func (c Config) withDefaults() Config {
	if c.Alone {
		c.withoutNetwork()
	}
	if c.Dial == nil {
		c.Dial = dialTCP
	}
	if c.AdvertisePeer == "" && c.PeerListener != nil {
		c.AdvertisePeer = c.PeerListener.Addr().String()
	}
	if c.Timers == (Timers{}) {
		c.Timers = LAN()
	}
	def(&c.MaxAppendEntries, 16)
	if c.Unsafe.LibraryAppends {
		c.MaxAppendEntries = 64
	}
	def(&c.SealBytes, 128<<10)
	def(&c.InFlight, 3)
	def(&c.Timeout, 5*time.Second)
	def(&c.Limits.Groups, 1_000_000)
	def(&c.Limits.Queues, 20_000_000)
	def(&c.Limits.Waiting, 8192)
	def(&c.Limits.Reads, 65536)
	def(&c.Snapshots.LogBytes, 256<<20)
	def(&c.Snapshots.TrailingBytes, 64<<20)
	def(&c.Snapshots.Replay, 10*time.Second)
	def(&c.Checkpoints.Entries, 20_000)
	def(&c.Checkpoints.Bytes, 64<<20)
	def(&c.Checkpoints.Wait, 5*time.Second)
	if c.Policy == nil {
		c.Policy = auth.AllowAll{}
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// Validate checks a Config as New does; the error wraps offset.ErrInvalid and
// names the field.
func (c Config) Validate() error {
	if c.Alone {
		if err := c.networkless(); err != nil {
			return err
		}
	}
	c = c.withDefaults()
	if err := validateMemberName(c.Name); err != nil {
		return err
	}
	switch {
	case c.Dir == "":
		return offset.Errorf(offset.ErrInvalid, "the data folder is not named")
	case c.PeerListener == nil:
		return offset.Errorf(offset.ErrInvalid, "there is no listener for the raft port")
	case c.InFlight < 1 || c.InFlight > 16:
		return offset.Errorf(offset.ErrInvalid, "%d entries in flight; 1 to 16 are allowed", c.InFlight)
	case c.SealBytes < 1<<10 || c.SealBytes > offset.MaxRequest:
		return offset.Errorf(offset.ErrInvalid, "entries sealed at %d bytes; 1 KiB to 512 KiB are allowed", c.SealBytes)
	case c.MaxAppendEntries < 1 || c.MaxAppendEntries > 64:
		return offset.Errorf(offset.ErrInvalid, "%d entries an append; 1 to 64 are allowed", c.MaxAppendEntries)
	case len(c.Limits.Prefixes) > 64:
		return offset.Errorf(offset.ErrInvalid, "%d prefix limits; at most 64 are allowed", len(c.Limits.Prefixes))
	}
	if err := validateAddress("advertised API address", c.AdvertiseAPI); err != nil && !(c.Alone && c.AdvertiseAPI == "") {
		return err
	}
	if err := validateAddress("advertised raft address", c.AdvertisePeer); err != nil {
		return err
	}
	if err := c.Timers.validate(); err != nil {
		return err
	}
	return c.validateFounders()
}

func (t Timers) validate() error {
	const least = 5 * time.Millisecond
	if t.Heartbeat < least || t.Election < t.Heartbeat || t.Lease < least || t.Lease > t.Heartbeat || t.Commit < time.Millisecond {
		return offset.Errorf(offset.ErrInvalid,
			"timers heartbeat %v, election %v, lease %v, commit %v: lease <= heartbeat <= election, each at least %v, and commit at least 1ms, are needed",
			t.Heartbeat, t.Election, t.Lease, t.Commit, least)
	}
	return nil
}

func (c Config) validateFounders() error {
	if len(c.InitialCluster) == 0 {
		return nil
	}
	own := false
	names, peers := map[string]bool{}, map[string]bool{}
	for _, f := range c.InitialCluster {
		if err := validateMemberName(f.Name); err != nil {
			return err
		}
		if err := validateAddress("raft address of "+f.Name, f.Peer); err != nil {
			return err
		}
		if names[f.Name] || peers[f.Peer] {
			return offset.Errorf(offset.ErrInvalid, "the initial cluster names %q or its address %q twice", f.Name, f.Peer)
		}
		names[f.Name], peers[f.Peer] = true, true
		own = own || f.Name == c.Name
	}
	if !own {
		return offset.Errorf(offset.ErrInvalid, "the initial cluster does not name this member, %q", c.Name)
	}
	if len(c.InitialCluster) > offset.MaxMembers {
		return offset.Errorf(offset.ErrInvalid, "%d founders; at most %d are allowed", len(c.InitialCluster), offset.MaxMembers)
	}
	return nil
}

func validateMemberName(s string) error {
	if err := offset.ValidateName("member name", s, false); err != nil {
		return err
	}
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
	if i := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(allowed, r) }); i >= 0 {
		return offset.Errorf(offset.ErrInvalid, "member name %q: only letters, digits, '.', '-' and '_' are allowed", s)
	}
	if len(s) > 64 {
		return offset.Errorf(offset.ErrInvalid, "member name %q has %d bytes; at most 64 are allowed", s, len(s))
	}
	return nil
}

// validateAddress checks that s is a host and a port that others can reach: a
// wildcard or port 0 is what one listens on, not what one advertises.
func validateAddress(field, s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return offset.Errorf(offset.ErrInvalid, "%s %q is not host:port", field, s)
	}
	if host == "" || port == "" || port == "0" || len(s) > offset.MaxName || strings.ContainsRune(s, '@') {
		return offset.Errorf(offset.ErrInvalid, "%s %q: a host and a port other than 0 are needed", field, s)
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return offset.Errorf(offset.ErrInvalid, "%s %q is a wildcard, which nobody can reach; advertise a host name or address of this machine", field, s)
	}
	return nil
}
