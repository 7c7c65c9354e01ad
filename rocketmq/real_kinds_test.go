package rocketmq

import (
	"os"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// TestRealKindsOfBrokers: a 5.5.0 keeps its offsets in one of four classes, by
// its configuration. Each answers for all that it was sent. With SOAK=1, as it
// starts three brokers.
func TestRealKindsOfBrokers(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("starts three brokers; SOAK=1 does it")
	}
	ns := javaparts.StartNameServer(t, javaparts.RocketMQ5)
	for name, config := range map[string]map[string]string{
		"LMQ":        {"enableLmq": "true", "enableMultiDispatch": "true"},
		"RocksDB":    {"storeType": "defaultRocksDB"},
		"RocksDB v2": {"configManagerVersion": "v2"},
	} {
		t.Run(name, func(t *testing.T) {
			b := javaparts.StartBroker(t, javaparts.RocketMQ5, ns, config)
			b.CreateTopic("moss", 2)
			b.CreateGroup("pay")
			b.Commit("pay", "moss", 0, 7)
			b.Commit("pay", "moss", 1, 9)
			r := &realTest{t, javaparts.RocketMQ5, b}
			c := r.open(b.Addr)
			list, err := c.Brokers(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			f, err := c.ConsumerOffsets(t.Context(), list[0], offsetfile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := targets(f), "pay/moss/broker-a/0=7 pay/moss/broker-a/1=9"; got != want {
				t.Errorf("it holds %s\nwant %s\n%+v", got, want, f.Report)
			}
		})
	}
}
