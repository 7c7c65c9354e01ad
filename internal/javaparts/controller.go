package javaparts

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/internal/ports"
)

// Controller is a RocketMQ 5.5.0 controller: it chooses the master of brokers
// that are told of it by JoinController. It is ended with the test.
type Controller struct {
	server
	// Addr is where brokers find it, host:port.
	Addr string
	// Listens is where it listens, on the loopback interface: Addr, unless that
	// has a name for a host.
	Listens string
}

// StartController starts a controller that is alone. With a host, brokers know it
// by that name (see Resolve): a controller tells them its address itself, so only
// what a name means can differ between them.
func StartController(tb testing.TB, host string) *Controller {
	tb.Helper()
	c := &Controller{server: server{tb: tb, name: "controller", dir: tb.TempDir()}}
	classpath := Classpath(tb, RocketMQ5Set)
	var jvm []string
	if host != "" {
		jvm = append(jvm, hostsOption(tb, c.dir, host, "127.0.0.1"))
	}
	c.args = func() []string {
		conf := writeConfig(tb, c.dir, map[string]string{
			"controllerDLegerGroup": "interop", "controllerDLegerSelfId": "n0",
			"controllerDLegerPeers":       "n0-" + c.Addr,
			"controllerStorePath":         filepath.ToSlash(filepath.Join(c.dir, "controller")),
			"mappedFileSize":              "16777216",
			"configStorePath":             filepath.ToSlash(filepath.Join(c.dir, "controller.properties")),
			"bindAddress":                 "127.0.0.1",
			"scanNotActiveBrokerInterval": "1000", // a master that is gone is noticed soon
		})
		return append(slices.Clone(jvm),
			rocketArgs(c.dir, classpath, "-Xmx256m", "org.apache.rocketmq.controller.ControllerStartup", conf)...)
	}
	c.ready = func(ctx context.Context) error { return connects(ctx, c.Listens) }
	c.choose = func() {
		port := ports.Free(tb)
		c.Listens = loopback(port)
		c.Addr = c.Listens
		if host != "" {
			c.Addr = net.JoinHostPort(host, strconv.Itoa(port))
		}
	}
	c.Start()
	return c
}

// JoinController is what a broker's configuration holds to be one of a
// controller's: the first that registers becomes the master.
func (c *Controller) JoinController() map[string]string {
	return map[string]string{
		"enableControllerMode": "true", "controllerAddr": c.Addr, "brokerId": "-1",
		"allAckInSyncStateSet": "true", "inSyncReplicas": "2", "minInSyncReplicas": "1", "enableAutoInSyncReplicas": "true",
		"brokerHeartbeatInterval": "500", "brokerNotActiveTimeoutMillis": "3000",
		"syncControllerMetadataPeriod": "2000", "syncBrokerMetadataPeriod": "1000", "checkSyncStateSetPeriod": "1000",
	}
}

// codeSyncState asks a controller which brokers of a name have all that the master has.
const codeSyncState = 1006

// AwaitInSync waits until the controller counts so many brokers of a name, the
// master among them, as in sync: only these can take over.
func (c *Controller) AwaitInSync(name string, brokers int) {
	c.tb.Helper()
	names, err := json.Marshal([]string{name})
	if err != nil {
		c.tb.Fatal(err)
	}
	var state struct {
		ReplicasInfoTable map[string]struct {
			InSyncReplicas []struct{ BrokerAddress string }
		}
	}
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		body, err := remoting.Call(c.tb.Context(), c.Listens, codeSyncState, nil, names)
		if err == nil {
			err = json.Unmarshal(body, &state)
		}
		if err == nil && len(state.ReplicasInfoTable[name].InSyncReplicas) >= brokers {
			return
		}
	}
	c.tb.Fatalf("not %d brokers of %s in sync after %v: %+v", brokers, name, Patience, state)
}

// Master waits until a name server knows a master of these brokers that runs,
// and gives it.
func Master(tb testing.TB, at *NameServer, group []*Broker) *Broker {
	tb.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		body, err := remoting.Call(tb.Context(), at.Addr, codeClusterInfo, nil, nil)
		if err != nil {
			tb.Fatal(err)
		}
		for _, b := range group {
			if b.Running() && bytes.Contains(body, []byte(`0:"`+b.Addr+`"`)) {
				return b
			}
		}
	}
	tb.Fatalf("no master of %s after %v", group[0].Name, Patience)
	return nil
}
