package javaparts

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
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

// The newer version is what the adapters are tested against.
func TestBrokerStartsAgainWhereItWas(t *testing.T) {
	ns := StartNameServer(t, RocketMQ4)
	b := StartBroker(t, RocketMQ4, ns, map[string]string{"brokerName": "bk"})
	b.CreateTopic("orders", 4)
	b.CreateGroup("billing")
	b.Stop()
	topics, err := os.ReadFile(filepath.Join(b.Store, "config", "topics.json"))
	if err != nil || !bytes.Contains(topics, []byte(`"orders"`)) {
		t.Fatalf("what a stop leaves: %s, %v", topics, err)
	}
	b.Start()
	route := func(ctx context.Context) error {
		_, err := remoting.Call(ctx, ns.Addr, codeRoute, map[string]string{"topic": "orders"}, nil)
		return err
	}
	if err := b.p.await(t.Context(), route); err != nil {
		t.Fatalf("the topic is not known any more: %v", err)
	}
}

// A group of brokers that a controller leads has a master and a slave; when the
// master is killed, the slave takes over.
func TestControllerGroupSwitches(t *testing.T) {
	ns := StartNameServer(t, RocketMQ5)
	c := StartController(t, "")
	group := []*Broker{StartBroker(t, RocketMQ5, ns, c.JoinController()), StartBroker(t, RocketMQ5, ns, c.JoinController())}
	first := Master(t, ns, group)
	first.CreateTopic("orders", 1)
	first.Send("orders", 0, []byte("m"))
	c.AwaitInSync(first.Name, 2)
	first.Kill()
	if second := Master(t, ns, group); second == first {
		t.Fatal("the killed broker is still the master")
	}
	first.Start()
	if again := Master(t, ns, group); again == first {
		t.Error("the old master took over again by itself")
	}
}
