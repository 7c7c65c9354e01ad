package javaparts

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/ports"
)

// Kafka is one Kafka broker, its own controller. It is ended with the test.
type Kafka struct {
	server
	// Addr is where clients begin, host:port.
	Addr string
}

// StartKafka formats and starts a broker of Kafka 4.1.0. Topics are made when
// they are first asked for, with four partitions.
func StartKafka(tb testing.TB) *Kafka {
	tb.Helper()
	classpath := Classpath(tb, KafkaSet)
	k := &Kafka{server: server{tb: tb, name: "kafka", dir: tb.TempDir()}}
	config := filepath.Join(k.dir, "server.properties")
	k.args = func() []string {
		return []string{"-Xmx384m", "-Dorg.apache.logging.log4j.level=WARN", "-cp", classpath, "kafka.Kafka", config}
	}
	k.ready = func(ctx context.Context) error { return askKafka(ctx, k.Addr) }
	k.choose = func() {
		port := ports.Free(tb, 1)
		k.Addr = loopback(port)
		k.format(classpath, config, port)
	}
	k.Start()
	return k
}

// kafkaConfig is a broker that forgets nothing, asks for one copy and lets
// groups begin at once.
const kafkaConfig = `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:%[2]d
listeners=PLAINTEXT://127.0.0.1:%[1]d,CONTROLLER://127.0.0.1:%[2]d
advertised.listeners=PLAINTEXT://127.0.0.1:%[1]d
controller.listener.names=CONTROLLER
log.dirs=%[3]s
num.partitions=4
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
log.retention.ms=-1
log.segment.bytes=16777216
log.cleaner.dedupe.buffer.size=4194304
`

// format writes the configuration and the meta data that a broker starts from.
func (k *Kafka) format(classpath, config string, port int) {
	k.tb.Helper()
	logs := filepath.Join(k.dir, "logs")
	if err := os.RemoveAll(logs); err != nil {
		k.tb.Fatal(err)
	}
	text := fmt.Sprintf(kafkaConfig, port, port+1, filepath.ToSlash(logs))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		k.tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(k.tb.Context(), Patience)
	defer cancel()
	args := append(jvm[:len(jvm):len(jvm)], "-cp", classpath, "kafka.tools.StorageTool",
		"format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", config)
	if out, err := exec.CommandContext(ctx, "java", args...).CombinedOutput(); err != nil {
		k.tb.Fatalf("formatting Kafka's folder: %v: %s", err, lastLines(out, 20))
	}
}

// askKafka asks a broker which requests it knows (ApiVersions, version 0): it
// answers once it serves.
func askKafka(ctx context.Context, addr string) error {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	request := []byte{0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 0xff, 0xff} // size, key, version, id 7, no client id
	if _, err := c.Write(request); err != nil {
		return err
	}
	head := make([]byte, 10)
	if _, err := io.ReadFull(c, head); err != nil {
		return err
	}
	if !bytes.Equal(head[4:8], request[8:12]) || binary.BigEndian.Uint16(head[8:]) != 0 {
		return errors.New("kafka answered with an error, or is something else")
	}
	return nil
}
