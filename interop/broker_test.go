package interop

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
	"github.com/tidemark-mq/tidemark/rocketmq"
)

// TestRealBrokerStartsWithOurFile puts a file of ours in the place of a
// broker's own, starts the broker, and asks it what it has: code 43.
func TestRealBrokerStartsWithOurFile(t *testing.T) {
	for _, v := range []javaparts.Version{javaparts.RocketMQ4, javaparts.RocketMQ5} {
		t.Run(string(v), func(t *testing.T) {
			names := javaparts.StartNameServer(t, v)
			store := t.TempDir()
			path := filepath.Join(store, "config", "consumerOffset.json")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			toFile(t, path, broker(false), "")
			b := javaparts.StartBroker(t, v, names, map[string]string{"brokerName": "bk", "storePathRootDir": store})

			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c, err := rocketmq.Open(ctx, b.Addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			file, err := c.ConsumerOffsets(ctx, rocketmq.Broker{Name: "bk", Addr: b.Addr}, offsetfile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[offset.Key]int64)
			for target := range file.All() {
				got[target.Key] = target.Offset
			}
			if !maps.Equal(got, broker(false)) {
				t.Errorf("the broker has %d offsets, want %d: %v", len(got), len(broker(false)), got)
			}
		})
	}
}
