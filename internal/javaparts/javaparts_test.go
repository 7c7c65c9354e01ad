package javaparts

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestKafkaStartsAgainWhereItWas(t *testing.T) {
	k := StartKafka(t)
	k.Kill()
	if err := askKafka(t.Context(), k.Addr); err == nil {
		t.Fatal("a killed broker answers")
	}
	k.Start()
	if err := askKafka(t.Context(), k.Addr); err != nil {
		t.Fatal(err)
	}
}

func TestRocketMQ(t *testing.T) {
	for _, v := range []Version{RocketMQ5, RocketMQ4} {
		t.Run(string(v), func(t *testing.T) {
			ns := StartNameServer(t, v)
			b := StartBroker(t, v, ns, map[string]string{"brokerName": "bk"})
			b.CreateTopic("orders", 4)
			b.CreateGroup("billing")
			route := func(ctx context.Context) ([]byte, error) {
				return remoting(ctx, ns.Addr, 105, map[string]string{"topic": "orders"}, nil)
			}
			b.server.p.await(t.Context(), func(ctx context.Context) error { _, err := route(ctx); return err })
			if body, err := route(t.Context()); err != nil {
				t.Fatalf("the route of a topic: %s, %v", body, err)
			}
			b.Stop()
			if _, err := os.Stat(filepath.Join(b.Store, "config", "topics.json")); err != nil {
				t.Fatal(err)
			}
			b.Start()
		})
	}
}
