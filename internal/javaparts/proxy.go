package javaparts

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/ports"
)

// Proxy is a RocketMQ proxy 5.5.0 in cluster mode, before the brokers of a name
// server. It is ended with the test.
type Proxy struct {
	server
	// Addr is where gRPC clients find it, host:port.
	Addr string
	// Remoting is what classic clients take for a name server's address.
	Remoting string
}

// StartProxy starts a proxy before the brokers of StartBroker, of which one
// must run: it makes a topic of its own there.
func StartProxy(tb testing.TB, at *NameServer) *Proxy {
	tb.Helper()
	x := &Proxy{server: server{tb: tb, name: "proxy", dir: tb.TempDir()}}
	classpath := Classpath(tb, RocketMQProxySet)
	var port int
	x.args = func() []string {
		return []string{
			"-Xmx384m", "-Dfile.encoding=UTF-8", "-Drocketmq.home.dir=" + x.dir, "-Duser.home=" + x.dir,
			"-cp", classpath, "org.apache.rocketmq.proxy.ProxyStartup", "-pc", x.configure(at.Addr, port),
		}
	}
	x.ready = func(ctx context.Context) error { return connects(ctx, x.Addr) }
	x.choose = func() {
		port = ports.Free(tb, 1)
		x.Addr, x.Remoting = loopback(port), loopback(port+1)
	}
	x.Start()
	return x
}

// configure writes the proxy's configuration, and gives its path.
func (x *Proxy) configure(nameServer string, port int) string {
	x.tb.Helper()
	text, err := json.Marshal(map[string]any{
		"rocketMQClusterName": brokerCluster, "proxyMode": "CLUSTER", "namesrvAddr": nameServer,
		"grpcServerPort": port, "remotingListenPort": port + 1, "localServeAddr": "127.0.0.1",
		"rocketmqMQClientNum": 2, "grpcThreadPoolNums": 8,
	})
	path := filepath.Join(x.dir, "proxy.json")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		x.tb.Fatal(err)
	}
	return path
}

// connects tells whether somebody listens.
func connects(ctx context.Context, addr string) error {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return c.Close()
}
