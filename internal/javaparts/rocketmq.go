package javaparts

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/internal/ports"
)

// Codes of RocketMQ's remoting protocol.
const (
	codeSendMessage  = 10
	codeUpdateOffset = 15
	codeCreateTopic  = 17
	codeBrokerInfo   = 28
	codeRoute        = 105
	codeClusterInfo  = 106
	codeCreateGroup  = 200
	codeRequestMode  = 401
)

// Version is a version of RocketMQ.
type Version string

// The versions there are, each with name server, broker, client and tools.
const (
	RocketMQ5  Version = "5.5.0"
	RocketMQ53 Version = "5.3.3"
	RocketMQ4  Version = "4.9.7"
)

// rocketSets tells which set a version of RocketMQ is in.
var rocketSets = map[Version]Set{RocketMQ5: RocketMQ5Set, RocketMQ53: RocketMQ53Set, RocketMQ4: RocketMQ4Set}

// Set is the set that the version is in.
func (v Version) Set() Set { return rocketSets[v] }

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
	classpath := Classpath(tb, v.Set())
	var port int
	n.args = func() []string {
		conf := writeConfig(tb, n.dir, map[string]string{"listenPort": strconv.Itoa(port), "bindAddress": "127.0.0.1"})
		return rocketArgs(n.dir, classpath, "-Xmx128m", "org.apache.rocketmq.namesrv.NamesrvStartup", conf)
	}
	n.ready = func(ctx context.Context) error {
		_, err := remoting.Call(ctx, n.Addr, codeClusterInfo, nil, nil)
		return err
	}
	n.choose = func() {
		port = ports.Free(tb)
		n.Addr = loopback(port)
	}
	n.Start()
	return n
}

// rocketArgs are the arguments of a RocketMQ server whose home is dir.
func rocketArgs(dir, classpath, heap, class, conf string) []string {
	return []string{
		heap, "-Dfile.encoding=UTF-8", "-Drocketmq.home.dir=" + dir, "-Duser.home=" + dir,
		"-cp", classpath, class, "-c", conf,
	}
}

// hostsOption has a Java process resolve one host by a file of its own, and no other.
func hostsOption(tb testing.TB, dir, host, address string) string {
	tb.Helper()
	path := filepath.Join(dir, "hosts")
	if err := os.WriteFile(path, []byte(address+" "+host+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	return "-Djdk.net.hosts.file=" + path
}

// logback is what 4.9 wants to find under its home. As 5.x does by itself, it
// logs to logs/rocketmqlogs; what goes wrong goes to stdout, too.
const logback = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <filter class="ch.qos.logback.classic.filter.ThresholdFilter"><level>WARN</level></filter>
    <encoder><pattern>%%d %%p %%t %%logger{0} - %%m%%n</pattern></encoder>
  </appender>
  <appender name="file" class="ch.qos.logback.core.FileAppender">
    <file>${user.home}/logs/rocketmqlogs/%s.log</file>
    <encoder><pattern>%%d %%p %%t %%logger{0} - %%m%%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="out"/><appender-ref ref="file"/></root>
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
		"conf/logback_namesrv.xml": fmt.Sprintf(logback, "namesrv"),
		"conf/logback_broker.xml":  fmt.Sprintf(logback, "broker"),
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
