package javaparts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/internal/ports"
)

// brokerStartup is a broker's own start class.
const brokerStartup = "org.apache.rocketmq.broker.BrokerStartup"

// brokerCluster is the RocketMQ cluster that all brokers say they belong to.
const brokerCluster = "interop"

// Broker is a RocketMQ broker, a master unless its configuration says otherwise.
// It is ended with the test.
type Broker struct {
	server
	// Name is its broker name.
	Name string
	// Addr is where clients find it, host:port.
	Addr string
	// Store is its storePathRootDir; offsets are in its config/.
	Store string

	// Config are RocketMQ's properties, laid over the settings of a small
	// broker. It is read at each start, as are the next three.
	Config map[string]string
	// Class is the class that is started, and Jars what lies behind the
	// broker's own jars on its class path.
	Class string
	Jars  []string
	// JVM are options of its Java process, behind those that all have.
	JVM []string

	names *NameServer
}

// BrokerOption changes a broker before its first start.
type BrokerOption func(b *Broker)

// StartClass starts a broker by another class than its own, from these jars.
func StartClass(class string, jars ...string) BrokerOption {
	return func(b *Broker) { b.Class, b.Jars = class, jars }
}

// Resolve has a broker find a host at an address, and no other host: a
// controller, say, that it alone is to be cut off from.
func Resolve(host, address string) BrokerOption {
	return func(b *Broker) { b.JVM = append(b.JVM, hostsOption(b.tb, b.dir, host, address)) }
}

// Property sets a system property of a broker's Java process.
func Property(name, value string) BrokerOption {
	return func(b *Broker) { b.JVM = append(b.JVM, "-D"+name+"="+value) }
}

// Compiled has the JVM compile as it does where nobody tells it otherwise. The
// others stop at its first, quick compiler, which starts sooner and then runs
// slower: not what a measurement should be of.
func Compiled(b *Broker) { b.JVM = append(b.JVM, "-XX:TieredStopAtLevel=4") }

// StartBroker starts a broker that registers at a name server, and waits until
// that knows it. config is laid over the settings of a small broker: any of
// RocketMQ's properties. Its name is brokerName there, or broker-a; with
// storePathRootDir it starts over the files that are there.
func StartBroker(tb testing.TB, v Version, at *NameServer, config map[string]string, options ...BrokerOption) *Broker {
	tb.Helper()
	b := NewBroker(tb, v, at, config, options...)
	b.Start()
	return b
}

// ByItself makes the broker's next start one by its own class, without jars of ours.
func (b *Broker) ByItself() { b.Class, b.Jars = brokerStartup, nil }

// NewBroker is a broker as StartBroker makes it, not started yet: for what must
// be done in its folders before, and for starts that should fail.
func NewBroker(tb testing.TB, v Version, at *NameServer, config map[string]string, options ...BrokerOption) *Broker {
	tb.Helper()
	b := &Broker{
		Name: config["brokerName"], Store: config["storePathRootDir"], Config: maps.Clone(config),
		Class: brokerStartup, names: at, server: server{tb: tb, name: "broker", dir: tb.TempDir()},
	}
	if b.Name == "" {
		b.Name = "broker-a"
	}
	if b.Store == "" {
		b.Store = filepath.Join(b.dir, "store")
	}
	for _, o := range options {
		o(b)
	}
	classpath := Classpath(tb, v.Set())
	var port int
	b.args = func() []string {
		all := b.settings(port, at.Addr)
		maps.Copy(all, b.Config)
		conf := writeConfig(tb, b.dir, all)
		path := strings.Join(append([]string{classpath}, b.Jars...), string(os.PathListSeparator))
		return append(slices.Clone(b.JVM), rocketArgs(b.dir, path, "-Xmx512m", b.Class, conf)...)
	}
	b.ready = func(ctx context.Context) error { return b.registered(ctx, at.Addr) }
	b.choose = func() {
		port = ports.Free(tb, -2, 1)
		b.Addr = loopback(port)
	}
	return b
}

// settings are those of a small broker that is quick to start.
func (b *Broker) settings(port int, nameServer string) map[string]string {
	return map[string]string{
		"brokerClusterName": brokerCluster, "brokerName": b.Name, "brokerId": "0",
		"brokerIP1": "127.0.0.1", "brokerIP2": "127.0.0.1", "bindAddress": "127.0.0.1",
		"listenPort": strconv.Itoa(port), "haListenPort": strconv.Itoa(port + 1),
		"namesrvAddr":      nameServer,
		"storePathRootDir": filepath.ToSlash(b.Store), "storePathCommitLog": filepath.ToSlash(filepath.Join(b.Store, "commitlog")),
		"mappedFileSizeCommitLog": "16777216", "mappedFileSizeConsumeQueue": "600000", "maxMessageSize": "1048576",
		"warmMapedFileEnable": "false", "diskMaxUsedSpaceRatio": "99",
		"traceTopicEnable": "false", "enableScheduleMessageAsync": "false",
	}
}

// registered asks the broker for its state, and the name server for the broker.
func (b *Broker) registered(ctx context.Context, nameServer string) error {
	if _, err := remoting.Call(ctx, b.Addr, codeBrokerInfo, nil, nil); err != nil {
		return err
	}
	body, err := remoting.Call(ctx, nameServer, codeClusterInfo, nil, nil)
	if err != nil {
		return err
	}
	if !bytes.Contains(body, []byte(strconv.Quote(b.Addr))) {
		return fmt.Errorf("the name server knows no broker at %s: %s", b.Addr, body)
	}
	return nil
}

// Refused starts a broker whose start must end by itself, and gives its exit
// code and what it said, its log included.
func (b *Broker) Refused() (code int, said string) {
	b.tb.Helper()
	b.own()
	if b.choose != nil {
		b.choose()
		b.choose = nil
	}
	p, err := launch(b.dir, b.name, java(b.args()...))
	if err != nil {
		b.tb.Fatal(err)
	}
	b.p = p
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode(), p.said() + "\n" + b.Log()
	case <-time.After(Patience):
		p.end(syscall.SIGKILL)
		b.tb.Fatalf("the start of broker %s has not ended after %v: %s", b.Name, Patience, b.Log())
		return 0, ""
	}
}

// Log is what the broker has logged in all of its runs.
func (b *Broker) Log() string {
	text, err := os.ReadFile(filepath.Join(b.dir, "logs", "rocketmqlogs", "broker.log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.tb.Error(err)
	}
	return string(text)
}

// CopyStore copies what the broker keeps to a folder that must not exist; the
// broker must not run.
func (b *Broker) CopyStore(to string) {
	b.tb.Helper()
	if err := os.CopyFS(to, os.DirFS(b.Store)); err != nil {
		b.tb.Fatal(err)
	}
}

// ReplaceStore deletes what the broker keeps and puts a copy in its place; the
// broker must not run.
func (b *Broker) ReplaceStore(from string) {
	b.tb.Helper()
	err := os.RemoveAll(b.Store)
	if err == nil {
		err = os.CopyFS(b.Store, os.DirFS(from))
	}
	if err != nil {
		b.tb.Fatal(err)
	}
}

// Runtime is the broker's state as "mqadmin brokerStatus" shows it: code 28.
func (b *Broker) Runtime() map[string]string {
	b.tb.Helper()
	body, err := remoting.Call(b.tb.Context(), b.Addr, codeBrokerInfo, nil, nil)
	var table struct{ Table map[string]string }
	if err == nil {
		err = json.Unmarshal(body, &table)
	}
	if err != nil {
		b.tb.Fatalf("the state of broker %s: %v", b.Name, err)
	}
	return table.Table
}

// CreateTopic makes a topic with a number of queues, or changes it, and waits
// until the name server tells clients of it.
func (b *Broker) CreateTopic(topic string, queues int) {
	b.tb.Helper()
	n := strconv.Itoa(queues)
	ext := map[string]string{
		"topic": topic, "defaultTopic": "TBW102", "readQueueNums": n, "writeQueueNums": n, "perm": "6",
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
	}
	if _, err := remoting.Call(b.tb.Context(), b.Addr, codeCreateTopic, ext, nil); err != nil {
		b.tb.Fatalf("making topic %s: %v", topic, err)
	}
	route := func(ctx context.Context) error {
		_, err := remoting.Call(ctx, b.names.Addr, codeRoute, map[string]string{"topic": topic}, nil)
		return err
	}
	if err := b.p.await(b.tb.Context(), route); err != nil {
		b.tb.Fatalf("topic %s at the name server: %v", topic, err)
	}
}

// CreateGroup makes a consumer group.
func (b *Broker) CreateGroup(group string) {
	b.tb.Helper()
	body, err := json.Marshal(map[string]any{"groupName": group})
	if err != nil {
		b.tb.Fatal(err)
	}
	if _, err := remoting.Call(b.tb.Context(), b.Addr, codeCreateGroup, nil, body); err != nil {
		b.tb.Fatalf("making group %s: %v", group, err)
	}
}

// PopMode makes a group take a topic by POP (5.x).
func (b *Broker) PopMode(group, topic string) {
	b.tb.Helper()
	body, err := json.Marshal(map[string]any{"topic": topic, "consumerGroup": group, "mode": "POP", "popShareQueueNum": 8})
	if err != nil {
		b.tb.Fatal(err)
	}
	if _, err := remoting.Call(b.tb.Context(), b.Addr, codeRequestMode, nil, body); err != nil {
		b.tb.Fatalf("setting the mode of group %s: %v", group, err)
	}
}
