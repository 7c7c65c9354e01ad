package javaparts

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
)

// Controller is a RocketMQ 5.5.0 controller: it chooses the master of brokers
// that are told of it by JoinController. It is ended with the test.
type Controller struct {
	server
	// Addr is where brokers find it, host:port.
	Addr string
}

// StartController starts a controller that is alone.
func StartController(tb testing.TB) *Controller {
	tb.Helper()
	c := &Controller{server: server{tb: tb, name: "controller", dir: tb.TempDir()}}
	classpath := Classpath(tb, RocketMQ5Set)
	var port int
	c.args = func() []string {
		conf := writeConfig(tb, c.dir, map[string]string{
			"listenPort": strconv.Itoa(port), "bindAddress": "127.0.0.1",
			"controllerDLegerGroup": "interop", "controllerDLegerSelfId": "n0",
			"controllerDLegerPeers":       "n0-127.0.0.1:" + strconv.Itoa(port+1),
			"controllerStorePath":         filepath.ToSlash(filepath.Join(c.dir, "controller")),
			"mappedFileSize":              "16777216",
			"configStorePath":             filepath.ToSlash(filepath.Join(c.dir, "controller.properties")),
			"scanNotActiveBrokerInterval": "1000", // a master that is gone is noticed soon
		})
		return rocketArgs(c.dir, classpath, "-Xmx256m", "org.apache.rocketmq.controller.ControllerStartup", conf)
	}
	c.ready = func(ctx context.Context) error { return connects(ctx, c.Addr) }
	c.choose = func() {
		port = freePort(tb, 1)
		c.Addr = loopback(port)
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
