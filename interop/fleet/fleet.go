// Package fleet runs RocketMQ's own consumers and producers, unmodified, in
// processes that a test can kill, and counts from what they wrote to files
// which messages came, came again, or never did.
//
// The programs beside it are one for each kind of client; all take the same
// lines on stdin (interop/DESIGN.md).
package fleet

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/offset"
)

// Client is a client library of one version.
type Client string

// The clients there are.
const (
	Java5  Client = "Java 5.5.0"
	Java53 Client = "Java 5.3.3"
	Java4  Client = "Java 4.9.7"
	Java49 Client = "Java 4.9.4"
	GRPC   Client = "Java gRPC 5.0.8"
	Go     Client = "Go v2.1.3-0.20251226070945"
	OldGo  Client = "Go v2.1.2"
)

// Kind is a way to consume.
type Kind string

// The kinds there are. POP is asked of 5.x brokers, whose group must be in that
// mode (javaparts.Broker.PopMode) before.
const (
	Push       Kind = "push"
	Orderly    Kind = "orderly"
	POP        Kind = "pop"
	Lite       Kind = "lite"        // DefaultLitePullConsumer that subscribes
	LiteAssign Kind = "lite-assign" // that is assigned its queues
	Pull       Kind = "pull"        // DefaultMQPullConsumer, which updates its offsets itself
	GRPCPush   Kind = "grpc-push"
	GRPCSimple Kind = "grpc-simple"
	GoPush     Kind = "go-push"
	GoPull     Kind = "go-pull"
)

// javaSets are the sets that the Java clients are in.
var javaSets = map[Client]javaparts.Set{
	Java5: javaparts.RocketMQ5Set, Java53: javaparts.RocketMQ53Set, Java4: javaparts.RocketMQ4Set, Java49: javaparts.OldClientSet,
}

// Fleet is one process with consumers and producers of one client. It is ended
// with the test.
type Fleet struct {
	*javaparts.Program
	// Client is the library that it uses.
	Client Client

	tb  testing.TB
	dir string // of the records
}

// Start starts the process of a client. address is that of the name servers; of
// the proxy for GRPC.
func Start(tb testing.TB, c Client, address string) *Fleet {
	tb.Helper()
	f := &Fleet{Client: c, tb: tb, dir: tb.TempDir()}
	switch c {
	case Go, OldGo:
		f.Program = javaparts.StartProgram(tb, exec.Command(goClient(tb, c), address))
	case GRPC:
		f.Program = javaparts.Source{Set: javaparts.GRPCClientSet, File: beside("Grpc.java"), Options: home(f.dir), Args: []string{address}}.Start(tb)
	default:
		f.Program = javaparts.Source{Set: javaSets[c], File: beside("Remoting.java"), Options: home(f.dir), Args: []string{address}}.Start(tb)
	}
	return f
}

// home keeps a Java client's logs out of the user's home.
func home(dir string) []string { return []string{"-Duser.home=" + dir} }

// beside is a file in the folder of this package.
func beside(name string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), name)
}

// built are the programs of the Go clients, built once for all tests of a package.
var built struct {
	sync.Mutex
	path map[Client]string
}

// goClient gives the program of a Go client.
func goClient(tb testing.TB, c Client) string {
	tb.Helper()
	built.Lock()
	defer built.Unlock()
	if built.path[c] != "" {
		return built.path[c]
	}
	root, err := javaparts.Root()
	if err != nil {
		tb.Fatal(err)
	}
	name := map[Client]string{Go: "go", OldGo: "v2.1.2"}[c]
	path := filepath.Join(root, ".cache", "goclient", name)
	cmd := exec.Command("go", "build", "-modfile", name+".mod", "-o", path, ".")
	cmd.Dir = beside("goclient")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("building the Go client %s: %v\n%s", c, err, out)
	}
	if built.path == nil {
		built.path = map[Client]string{}
	}
	built.path[c] = path
	return path
}

// Consume starts count consumers of a group in the process.
func (f *Fleet) Consume(kind Kind, group, topic string, count int) *Record {
	f.tb.Helper()
	r := f.record(group)
	f.Ask("consume", string(kind), group, topic, strconv.Itoa(count), r.path)
	return r
}

// Load is what a producer sends.
type Load struct {
	// Rate is messages a second, of all threads together; 0 is as fast as it goes.
	Rate int
	// Threads send at the same time; 0 means one. Each waits for its answers.
	Threads int
	// Bytes is the length of a message's body, at least that of its number.
	Bytes int
}

// Produce starts a producer (of a Java client) under that name. Its record is of
// what the broker acknowledged.
func (f *Fleet) Produce(name, topic string, l Load) *Record {
	f.tb.Helper()
	r := f.record(name)
	f.Ask("produce", name, topic, strconv.Itoa(l.Rate), strconv.Itoa(max(l.Threads, 1)), strconv.Itoa(l.Bytes), r.path)
	return r
}

// Stop ends a group's consumers, or a producer, as an application does that is
// shut down. When it returns, the record is whole.
func (f *Fleet) Stop(name string) {
	f.tb.Helper()
	f.Ask("stop", name)
}

// Reread commits rising offsets of a queue one-way, each followed at once by a
// read of what is stored, and gives how many reads were older than the commit
// before them. Ask a Java client of 4.9, which keeps both in order on the wire.
func (f *Fleet) Reread(group string, mq offset.MessageQueue, rounds int) (stale int) {
	f.tb.Helper()
	answer := f.Ask("reread", group, mq.Topic, mq.Broker, strconv.Itoa(int(mq.QueueID)), strconv.Itoa(rounds))
	stale, err := strconv.Atoi(answer[0])
	if err != nil {
		f.tb.Fatal(err)
	}
	return stale
}
