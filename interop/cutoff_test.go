package interop

import (
	"net"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// TestMasterCutOffFromItsController: a controller's master loses its controller,
// but neither its clients nor the cluster, and goes on; another is elected. What
// the old one is told to store reaches nobody, the new one's consumers skip
// nothing, and once the old one hears of it, it is a slave.
func TestMasterCutOffFromItsController(t *testing.T) {
	apart(t)
	const same, apart = 50, 60 // messages of each queue
	const host = "controller.interop"
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	c := javaparts.StartController(t, host)
	_, port, err := net.SplitHostPort(c.Listens)
	if err != nil {
		t.Fatal(err)
	}
	toController := relayAt(t, net.JoinHostPort("127.0.0.2", port), c.Listens)
	// The old one's clients have a name server of their own, which does not hear of the new one.
	stale := javaparts.StartNameServer(t, javaparts.RocketMQ5)
	member := func(address string, settings ...string) *javaparts.Broker {
		config := with(settings...)
		for k, v := range c.JoinController() {
			config[k] = v
		}
		return s.Broker(config, javaparts.Resolve(host, address))
	}
	older := member("127.0.0.2", "namesrvAddr", s.Names.Addr+";"+stale.Addr)
	newer := member("127.0.0.1")
	for _, b := range []*javaparts.Broker{older, newer} {
		b.CreateTopic("t", resetQueues)
		b.CreateGroup("g")
	}
	awaitRole(t, older, "MASTER")
	a := &resetTrial{TB: t, s: s, b: older, kind: fleet.Push, topic: "t", group: "g"}
	f := fleet.Start(t, fleet.Java5, stale.Addr)
	a.consumed = f.Consume(fleet.Push, "g", "t", 1)
	a.send(same)
	a.await("all is consumed", func() error { return a.deliveredFrom(0, 0) })
	a.awaitStored()
	c.AwaitInSync(older.Name, 2)

	toController.Cut()
	awaitRole(t, newer, "MASTER")
	if role := older.Runtime()["tidemarkRole"]; role != "MASTER" {
		t.Fatalf("the old master is %q: it was not cut off alone", role)
	}
	w := dial(t, older, remoting.JSON)
	for q := range resetQueues {
		if code := w.commit("g", "t", q, same+apart+1_000); code == answerOK {
			t.Errorf("the old master acknowledged a commit of queue %d", q)
		}
	}
	b := &resetTrial{TB: t, s: s, b: newer, kind: fleet.Push, topic: "t", group: "g", sent: same, number: a.number}
	b.send(apart)
	f2 := fleet.Start(t, fleet.Java5, s.Names.Addr)
	b.consumed = f2.Consume(fleet.Push, "g", "t", 1)
	b.await("consumers of the new master skip nothing", func() error { return b.deliveredFrom(0, same) })
	b.awaitStored()
	if lost := older.Runtime()["tidemarkLost"]; lost == "0" || lost == "" {
		t.Errorf("the old master has lost %q keys to the new one", lost)
	}

	toController.Heal()
	awaitRole(t, older, "SLAVE")
	ask.Until(t, "the old master answers what the new one has", func() bool {
		return w.query("g", "t", 0) == same+apart
	})
	s.Diff(newer, "30s").Want(t, 0, "", "")
}
