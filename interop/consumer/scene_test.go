package consumer

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
	"github.com/tidemark-mq/tidemark/offset"
)

// patience is how long a condition may take on a busy machine.
const patience = 4 * time.Minute

// queues is how many queues each topic of these tests has.
const queues = 4

// scene is a name server and a broker that know nothing of Tidemark, a cluster
// beside them, and a producer in a process of its own.
type scene struct {
	*stand.Stand
	broker  *javaparts.Broker
	cluster *local.Cluster
	reader  *client.Client
	sender  *fleet.Fleet
	// client is the library whose consumers are tried.
	client fleet.Client
}

// kinds are the ways to consume that the store serves. RocketMQ's own lite pull
// consumer of 5.5.0 gets no message from a broker 4.9.7 (tried without the store).
func (s *scene) kinds() []fleet.Kind {
	if s.Version == javaparts.RocketMQ4 && s.client == fleet.Java5 {
		return []fleet.Kind{fleet.Push, fleet.Orderly}
	}
	return []fleet.Kind{fleet.Push, fleet.Orderly, fleet.Lite, fleet.LiteAssign}
}

func newScene(t *testing.T, v javaparts.Version, c fleet.Client) *scene {
	t.Helper()
	javaparts.Classpath(t, v.Set()) // skips the test where there is no Java
	jar(t)                          // fails before anything takes time
	s := &scene{Stand: stand.New(t, v, stand.Plain), cluster: local.Start(t, 3), client: c}
	s.broker = s.Broker(nil)
	s.sender = fleet.Start(t, c, s.Names.Addr)
	var err error
	if s.reader, err = client.New(s.cluster.Endpoints()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.reader.Close() })
	return s
}

// setOf is the set that a client is in.
var setOf = map[fleet.Client]javaparts.Set{
	fleet.Java5: javaparts.RocketMQ5Set, fleet.Java53: javaparts.RocketMQ53Set,
	fleet.Java4: javaparts.RocketMQ4Set, fleet.Java49: javaparts.OldClientSet,
}

// jar is the path of the store's jar, which "make jar" builds.
func jar(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(local.Root(), "bin", "tidemark-rocketmq-consumer.jar")
	if _, err := os.Stat(path); err != nil {
		tb.Fatalf("the consumers' jar is missing; build it: make jar (%v)", err)
	}
	return path
}

// topic makes the topic of a scenario's consumers of one kind, and a group of
// the same name. Made again, both stay as they are.
func (s *scene) topic(scenario string, k fleet.Kind) string {
	name := scenario + "-" + string(k)
	s.broker.CreateTopic(name, queues)
	s.broker.CreateGroup(name)
	return name
}

// process is a process with consumers of one client that use the store.
type process struct {
	*javaparts.Program
	dir string
}

// process starts a process of the client, without consumers. The files of what is consumed are
// in dir, so that they outlive it.
func (s *scene) process(t *testing.T, dir string) *process {
	t.Helper()
	return s.processAt(t, dir, s.Names.Addr)
}

// processAt does the same with a name server at another address.
func (s *scene) processAt(t *testing.T, dir, names string) *process {
	t.Helper()
	return &process{dir: dir, Program: javaparts.Source{
		Set: setOf[s.client], Jars: []string{jar(t)}, File: filepath.Join(local.Root(), "interop", "consumer", "Consumers.java"),
		Options: []string{"-Duser.home=" + dir}, Args: []string{names, strings.Join(s.cluster.Endpoints(), ",")},
	}.Start(t)}
}

// consumer is one consumer; its files go on when it is started again.
type consumer struct {
	t     *testing.T
	p     *process
	name  string
	topic string // and group
	stem  string
}

// start starts a consumer of the group that is named as the topic. Each batch
// takes it so long.
func (p *process) start(t *testing.T, kind fleet.Kind, topic, name string, takes time.Duration) *consumer {
	t.Helper()
	c := &consumer{t, p, name, topic, filepath.Join(p.dir, name)}
	p.Ask("start", name, string(kind), topic, topic, c.stem, strconv.FormatInt(takes.Milliseconds(), 10))
	return c
}

func (c *consumer) stop() {
	c.t.Helper()
	c.p.Ask("stop", c.name)
}

// consumed is the record of what came.
func (c *consumer) consumed() *fleet.Record { return fleet.RecordAt(c.t, c.stem+".consumed") }

// persisted are the highest offsets that the store told as persisted, by queue.
func (c *consumer) persisted() map[int]int64 {
	c.t.Helper()
	text, err := os.ReadFile(c.stem + ".persisted")
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	highest := make(map[int]int64)
	for line := range bytes.Lines(text) {
		var topic string
		var queue int
		var next int64
		if _, err := fmt.Sscan(string(line), &topic, &queue, &next); err != nil || !bytes.HasSuffix(line, []byte("\n")) {
			break // being written
		}
		if topic == c.topic {
			highest[queue] = max(highest[queue], next)
		}
	}
	return highest
}

// stored are the offsets that the cluster has of a topic, by queue.
func (s *scene) stored(t *testing.T, topic string) map[int]int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	keys := make([]offset.Key, queues)
	for q := range keys {
		keys[q] = offset.Key{Group: topic, MessageQueue: offset.MessageQueue{Topic: topic, Broker: s.broker.Name, QueueID: int32(q)}}
	}
	states, _, err := s.reader.Fetch(ctx, offset.ReadAt{}, keys...)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[int]int64)
	for q, st := range states {
		if st.Exists {
			all[q] = st.Position.Offset
		}
	}
	return all
}

// awaitStored waits until the cluster has just these offsets of a topic.
func (s *scene) awaitStored(t *testing.T, topic string, want map[int]int64) {
	t.Helper()
	var got map[int]int64
	until(t, func() bool {
		got = s.stored(t, topic)
		return maps.Equal(got, want)
	}, func() string { return fmt.Sprintf("the cluster has %v of %s, want %v", got, topic, want) })
}

// ends are the ends of a topic's queues, by what its producer was told.
func ends(sent *fleet.Record) map[int]int64 {
	all := make(map[int]int64)
	for _, m := range sent.All() {
		q := queueOf(m)
		all[q] = max(all[q], m.Offset+1)
	}
	return all
}

func queueOf(m fleet.Message) int {
	q, err := strconv.Atoi(m.Queue[strings.LastIndexByte(m.Queue, '/')+1:])
	if err != nil {
		panic(err)
	}
	return q
}

// each is the same offset for all queues.
func each(next int64) map[int]int64 {
	all := make(map[int]int64)
	for q := range queues {
		all[q] = next
	}
	return all
}

// until waits for a condition.
func until(t *testing.T, what func() bool, why func() string) {
	t.Helper()
	for end := time.Now().Add(patience); !what(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(why())
		}
	}
}
