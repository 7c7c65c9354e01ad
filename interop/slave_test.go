package interop

import (
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// TestASlaveHasWhatItsMasterAcknowledged: a slave of 5.5.0 stops taking over
// offsets once any consumer has pulled, for good. With the jar it answers what
// its master has acknowledged, and goes on to.
func TestASlaveHasWhatItsMasterAcknowledged(t *testing.T) {
	apart(t)
	wheres := effort.Of([]stand.Where{stand.Tidemark}, []stand.Where{stand.Plain, stand.Tidemark})
	for _, where := range wheres {
		t.Run(string(where), func(t *testing.T) {
			s := stand.New(t, javaparts.RocketMQ5, where)
			master := s.Broker(map[string]string{"brokerRole": "ASYNC_MASTER"})
			master.CreateTopic("orders", 4)
			master.CreateGroup("billing")
			master.Send("orders", 0, []byte("a message"))
			slave := s.Broker(map[string]string{"brokerRole": "SLAVE", "brokerId": "1"})
			m, sl := dial(t, master, remoting.JSON), dial(t, slave, remoting.JSON)
			m.ask(codePull, pullFields("billing", "orders", 0, 0), nil)
			// A plain slave asks once a minute: long enough for it to do so twice.
			patience := effort.Of(30*time.Second, map[stand.Where]time.Duration{stand.Plain: 130 * time.Second, stand.Tidemark: 30 * time.Second}[where])
			behind := 0
			for n := range int64(4) {
				m.commit("billing", "orders", int(n), 100+n)
			}
			end := time.Now().Add(patience)
			for n := range int64(4) {
				for sl.query("billing", "orders", int(n)) != 100+n && time.Now().Before(end) {
					time.Sleep(50 * time.Millisecond)
				}
				if sl.query("billing", "orders", int(n)) != 100+n {
					behind++
				}
			}
			t.Logf("%s: the slave is behind on %d of 4 queues after at most %v", where, behind, patience)
			if where != stand.Tidemark {
				return
			}
			if behind != 0 {
				t.Error("the slave does not have what its master acknowledged")
			}
			m.createGroups("audit")
			code := sl.commit("audit", "orders", 0, 1)
			// Topic and group reach it with its next look at its master's, within 63 s.
			for end := time.Now().Add(130 * time.Second); code != 0 && time.Now().Before(end); code = sl.commit("audit", "orders", 0, 1) {
				time.Sleep(50 * time.Millisecond)
			}
			if code != 0 {
				t.Fatalf("the slave answers a commit with %d", code)
			}
			for end := time.Now().Add(patience); m.query("audit", "orders", 0) != 1; time.Sleep(50 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the master does not follow what its slave took")
				}
			}
		})
	}
}
