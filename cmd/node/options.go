package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// options are the flags, by kong. Each is also an environment variable
// (TIDEMARK_ and its name) and a key of the file. An empty address or folder
// has a default that depends on others; see settle.
type options struct {
	Config      string `help:"YAML file with options; the keys are the names of the flags." placeholder:"FILE" meta:""`
	PrintConfig bool   `help:"Print all options as they are in effect, as YAML that --config takes, and exit." meta:""`
	Version     bool   `help:"Print the version and exit." meta:""`
	Man         bool   `help:"Print the manual page and exit." meta:""`

	Name           string `help:"Name of this member within its cluster: letters, digits, '.', '-' and '_'." placeholder:"NAME"`
	Data           string `help:"Folder for this member's state; its parent must exist (default with --dev: tidemark-dev in $$XDG_STATE_HOME, or in ~/.local/state)." placeholder:"DIR"`
	Listen         string `help:"Address that clients connect to (default :7411; with --dev on 127.0.0.1)." placeholder:"HOST:PORT"`
	Advertise      string `help:"Address at which clients reach this member (default: --listen, if that names a host)." placeholder:"HOST:PORT"`
	PeerListen     string `help:"Address that other members connect to (default :7412; with --dev on 127.0.0.1)." placeholder:"HOST:PORT"`
	PeerAdvertise  string `help:"Address at which members reach this one (default: its own in --initial-cluster, or --peer-listen, if that names a host)." placeholder:"HOST:PORT"`
	OpsListen      string `help:"Further address for /livez, /readyz, /metrics and /debug/pprof only; /metrics is then on no other." placeholder:"HOST:PORT"`
	InitialCluster string `help:"Founders of the cluster, this one among them; looked at only while the folder is empty; take it out once the cluster is founded. A member that joins later has none." placeholder:"n1=HOST:PORT,…"`
	Dev            bool   `help:"One node by itself on this machine, for trying things: sets name, addresses, cluster and folder. It keeps what is written, and can grow into a cluster."`

	TLSCert     string `name:"tls-cert" help:"Certificate of this member, PEM, with the intermediate ones; clients are then served with TLS." placeholder:"FILE"`
	TLSKey      string `name:"tls-key" help:"Its key." placeholder:"FILE"`
	TLSClientCA string `name:"tls-client-ca" help:"CA certificates, PEM, whose client certificates say who a caller is." placeholder:"FILE"`
	Tokens      string `help:"Callers by token: a name and a hash a line, as \"tidemark token\" prints it." placeholder:"FILE"`
	Policy      string `help:"YAML file that says who may do what; nobody may do anything else." placeholder:"FILE"`
	PeerTLSCA   string `name:"peer-tls-ca" help:"CA certificates, PEM, of the members' certificates; members then use TLS with one another." placeholder:"FILE"`
	PeerTLSCert string `name:"peer-tls-cert" help:"Certificate of this member for other members (default: --tls-cert)." placeholder:"FILE"`
	PeerTLSKey  string `name:"peer-tls-key" help:"Its key (default: --tls-key)." placeholder:"FILE"`
	PeerTLSRole string `name:"peer-tls-role" help:"URI or DNS name in the certificates of members, and in no others; \"none\" accepts every certificate of the CA." default:"tidemark:member" placeholder:"NAME"`
	Insecure    bool   `help:"Listen on addresses other than loopback without TLS, or without authenticating callers."`

	LogStore    string        `help:"How raft's log is kept: ${enum}. A data folder keeps the one that it was made with." enum:"boltdb,wal" default:"boltdb"`
	Timers      string        `help:"Timers of raft: ${enum}." enum:"lan,slow-disk" default:"lan"`
	CallTimeout time.Duration `help:"How long a call that names no timeout waits." default:"5s"`
	StopTimeout time.Duration `help:"How long a stop may take before calls under way are cut off." default:"20s"`

	LimitConnections   int      `help:"Connections of clients at once, and as many streams over HTTP/2." default:"4096"`
	LimitPerAddress    int      `help:"Connections of clients at once from one IP address, and as many streams over HTTP/2." default:"1024"`
	LimitCalls         int      `help:"Calls under way at once." default:"16384"`
	LimitCallsStream   int      `help:"Calls under way at once on one stream." default:"1024"`
	LimitCallBytes     bytesize `help:"Memory of all calls under way; the process may take twice that, which GOMEMLIMIT in the environment bounds." default:"256MiB"`
	LimitExports       int      `help:"Exports and backups at once." default:"4"`
	LimitWaiting       int      `help:"Requests that wait to be proposed." default:"8192"`
	LimitReads         int      `help:"Reads that wait for a leadership confirmation." default:"65536"`
	LimitGroups        uint64   `help:"Groups that the cluster may hold." default:"1000000"`
	LimitQueues        uint64   `help:"Offsets that the cluster may hold." default:"20000000"`
	LimitPrefix        []string `help:"Offsets of all groups whose name begins with PREFIX; at most 64 of these." placeholder:"PREFIX=N"`
	SnapshotLogBytes   bytesize `help:"Log written between two snapshots, at least." default:"256MiB"`
	SnapshotTrailBytes bytesize `help:"Log kept before a snapshot for followers that lag, at least." default:"64MiB"`

	LogLevel  string `help:"Least level that is logged: ${enum}." enum:"trace,debug,info,warn,error" default:"info"`
	LogFormat string `help:"Form of the log on standard error: ${enum}." enum:"text,json" default:"text"`
	Pprof     bool   `help:"Serve /debug/pprof on --ops-listen."`
}

// bytesize is a number of bytes; "256MiB", "64KiB", "1GiB" and plain numbers are read.
type bytesize uint64

var byteUnits = []struct {
	suffix string
	shift  uint
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"", 0}}

// UnmarshalText reads a number with a unit.
func (b *bytesize) UnmarshalText(text []byte) error {
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(string(text), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63-int(u.shift))
		if err != nil {
			break
		}
		*b = bytesize(n << u.shift)
		return nil
	}
	return fmt.Errorf("%q is no number of bytes; write it as 268435456, 256MiB, 64KiB or 1GiB", text)
}

// String gives the largest unit that leaves no fraction.
func (b bytesize) String() string {
	for _, u := range []int{2, 1, 0} {
		if unit := byteUnits[u]; b != 0 && b%(1<<unit.shift) == 0 {
			return strconv.FormatUint(uint64(b)>>unit.shift, 10) + unit.suffix
		}
	}
	return strconv.FormatUint(uint64(b), 10)
}
