package interop

import (
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

func TestTry(t *testing.T) {
	s := stand.New(t, javaparts.RocketMQ5, stand.Plain)
	b := s.Broker(nil)
	b.CreateTopic("load", 4)
	p := javaparts.StartProxy(t, s.Names)
	java := fleet.Start(t, fleet.Java5, s.Names.Addr)
	grpc := fleet.Start(t, fleet.GRPC, p.Addr)
	gonew := fleet.Start(t, fleet.Go, s.Names.Addr)
	goold := fleet.Start(t, fleet.OldGo, s.Names.Addr)
	j4 := fleet.Start(t, fleet.Java4, s.Names.Addr)
	sent := java.Produce("producer", "load", fleet.Load{Rate: 200, Bytes: 100})
	recs := map[string]*fleet.Record{}
	for _, x := range []struct {
		f *fleet.Fleet
		k fleet.Kind
	}{{java, fleet.Push}, {java, fleet.Orderly}, {java, fleet.POP}, {java, fleet.Lite}, {java, fleet.LiteAssign}, {java, fleet.Pull},
		{grpc, fleet.GRPCPush}, {grpc, fleet.GRPCSimple}, {gonew, fleet.GoPush}, {gonew, fleet.GoPull}, {goold, fleet.GoPush}, {goold, fleet.GoPull},
		{j4, fleet.Push}, {j4, fleet.Lite}, {j4, fleet.Pull}} {
		g := string(x.k) + map[fleet.Client]string{fleet.Java5: "-5", fleet.GRPC: "-g", fleet.Go: "-new", fleet.OldGo: "-old", fleet.Java4: "-4"}[x.f.Client]
		b.CreateGroup(g)
		if x.k == fleet.POP {
			b.PopMode(g, "load")
		}
		recs[g] = x.f.Consume(x.k, g, "load", 2)
		t.Log(g, "started")
	}
	time.Sleep(10 * time.Second)
	java.Stop("producer")
	for g, r := range recs {
		t.Log(g, fleet.Await(20*time.Second, sent, r))
	}
	t.Log(s.Admin("consumerProgress", "-g", "push-5"))
	t.Log(s.Admin("brokerStatus", "-b", b.Addr))
}
