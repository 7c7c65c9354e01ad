package javaparts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rocketSets tells which set a version of RocketMQ is in.
var rocketSets = map[Version]Set{RocketMQ5: RocketMQ5Set, RocketMQ4: RocketMQ4Set}

// Version is a version of RocketMQ.
type Version string

// The versions there are.
const (
	RocketMQ5 Version = "5.5.0"
	RocketMQ4 Version = "4.9.7"
)

// NameServer is a RocketMQ name server. It is ended with the test.
type NameServer struct {
	server
	// Addr is where clients and brokers find it, host:port.
	Addr string
}

// StartNameServer starts a name server.
func StartNameServer(tb testing.TB, v Version) *NameServer {
	tb.Helper()
	n := &NameServer{server: server{tb: tb, name: "namesrv", dir: tb.TempDir()}}
	classpath := Classpath(tb, rocketSets[v])
	var port int
	n.args = func() []string {
		conf := writeConfig(tb, n.dir, map[string]string{"listenPort": strconv.Itoa(port), "bindAddress": "127.0.0.1"})
		return rocketArgs(n.dir, classpath, "-Xmx128m", "org.apache.rocketmq.namesrv.NamesrvStartup", conf)
	}
	n.ready = func(ctx context.Context) error {
		_, err := remoting(ctx, n.Addr, codeClusterInfo, nil, nil)
		return err
	}
	n.open(func() {
		port = freePort(tb)
		n.Addr = loopback(port)
	})
	return n
}

// Broker is a RocketMQ broker, a master. It is ended with the test.
type Broker struct {
	server
	// Name is its broker name.
	Name string
	// Addr is where clients find it, host:port.
	Addr string
	// Store is its storePathRootDir; offsets are in its config/.
	Store string
}

// StartBroker starts a broker that registers at a name server, and waits until
// that knows it. config is laid over the settings of a small broker: any of
// RocketMQ's properties. Its name is brokerName there, or broker-a; with
// storePathRootDir it starts over the files that are there.
func StartBroker(tb testing.TB, v Version, at *NameServer, config map[string]string) *Broker {
	tb.Helper()
	name := config["brokerName"]
	if name == "" {
		name = "broker-a"
	}
	b := &Broker{Name: name, server: server{tb: tb, name: "broker", dir: tb.TempDir()}}
	if b.Store = config["storePathRootDir"]; b.Store == "" {
		b.Store = filepath.Join(b.dir, "store")
	}
	classpath := Classpath(tb, rocketSets[v])
	var port int
	b.args = func() []string {
		all := b.settings(port, at.Addr)
		maps.Copy(all, config)
		conf := writeConfig(tb, b.dir, all)
		return rocketArgs(b.dir, classpath, "-Xmx512m", "org.apache.rocketmq.broker.BrokerStartup", conf)
	}
	b.ready = func(ctx context.Context) error { return b.registered(ctx, at.Addr) }
	b.open(func() {
		port = freePort(tb, -2, 1)
		b.Addr = loopback(port)
	})
	return b
}

// settings are those of a small broker that is quick to start.
func (b *Broker) settings(port int, nameServer string) map[string]string {
	return map[string]string{
		"brokerClusterName": "interop", "brokerName": b.Name, "brokerId": "0",
		"brokerIP1": "127.0.0.1", "bindAddress": "127.0.0.1",
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
	if _, err := remoting(ctx, b.Addr, codeBrokerInfo, nil, nil); err != nil {
		return err
	}
	body, err := remoting(ctx, nameServer, codeClusterInfo, nil, nil)
	if err != nil {
		return err
	}
	if !bytes.Contains(body, []byte(strconv.Quote(b.Addr))) {
		return fmt.Errorf("the name server knows no broker at %s: %s", b.Addr, body)
	}
	return nil
}

// CreateTopic makes a topic with a number of queues, or changes it.
func (b *Broker) CreateTopic(topic string, queues int) {
	b.tb.Helper()
	n := strconv.Itoa(queues)
	ext := map[string]string{
		"topic": topic, "defaultTopic": "TBW102", "readQueueNums": n, "writeQueueNums": n, "perm": "6",
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
	}
	if _, err := remoting(b.tb.Context(), b.Addr, codeCreateTopic, ext, nil); err != nil {
		b.tb.Fatalf("making topic %s: %v", topic, err)
	}
}

// CreateGroup makes a consumer group.
func (b *Broker) CreateGroup(group string) {
	b.tb.Helper()
	body, err := json.Marshal(map[string]any{"groupName": group})
	if err != nil {
		b.tb.Fatal(err)
	}
	if _, err := remoting(b.tb.Context(), b.Addr, codeCreateGroup, nil, body); err != nil {
		b.tb.Fatalf("making group %s: %v", group, err)
	}
}

// rocketArgs are the arguments of a RocketMQ server whose home is dir.
func rocketArgs(dir, classpath, heap, class, conf string) []string {
	return []string{
		heap, "-Dfile.encoding=UTF-8", "-Drocketmq.home.dir=" + dir, "-Duser.home=" + dir,
		"-cp", classpath, class, "-c", conf,
	}
}

// logback is what 4.9 wants to find under its home: what goes wrong, on stdout.
const logback = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %p %t %logger{0} - %m%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
`

// writeConfig writes a server's files into its home, and gives the path of its configuration.
func writeConfig(tb testing.TB, dir string, config map[string]string) string {
	tb.Helper()
	var text strings.Builder
	for _, k := range slices.Sorted(maps.Keys(config)) {
		fmt.Fprintf(&text, "%s=%s\n", k, config[k])
	}
	files := map[string]string{
		"server.conf":              text.String(),
		"conf/logback_namesrv.xml": logback,
		"conf/logback_broker.xml":  logback,
	}
	if err := os.MkdirAll(filepath.Join(dir, "conf"), 0o700); err != nil {
		tb.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return filepath.Join(dir, "server.conf")
}
