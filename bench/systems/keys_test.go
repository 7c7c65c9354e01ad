package systems

import (
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// Callers share no key, and each system takes the names.
func TestKeys(t *testing.T) {
	w := Work{Op: Write, Callers: 3, Batch: 100}
	seen := map[string]bool{}
	for i, list := range paths(w, "", ".") {
		for n, path := range list {
			if seen[path] {
				t.Fatalf("%s occurs twice", path)
			}
			seen[path] = true
			if strings.Count(path, ".") != 3 {
				t.Errorf("%s has not four names", path)
			}
			k := keysOf(i, w.Batch)[n]
			key := offset.Key{Group: k.Group, MessageQueue: offset.MessageQueue{Topic: k.Topic, Broker: k.Broker, QueueID: k.Queue}}
			if err := key.Validate(); err != nil {
				t.Error(err)
			}
		}
	}
	if len(seen) != 300 {
		t.Errorf("3 callers have %d keys", len(seen))
	}
}

func TestClients(t *testing.T) {
	if got := clients(Work{Callers: 5}); got != 1 {
		t.Errorf("5 callers share %d clients", got)
	}
	if got := clients(Work{Callers: 5, Separate: true}); got != 5 {
		t.Errorf("5 callers have %d clients", got)
	}
}

// What is asked for by a wrong name is told with those that there are.
func TestNamed(t *testing.T) {
	if _, err := Named("mysql", Programs{}); err == nil || !strings.Contains(err.Error(), "etcd, nats") {
		t.Errorf("the error is %v", err)
	}
	for name, want := range map[string]string{"tidemark-wal": "Tidemark 1.2, wal", "etcd": "etcd 1.2", "nats-default": "NATS JetStream KV 1.2, as shipped"} {
		kind, err := KindOf(name)
		if got := kind.Titled("1.2"); err != nil || got != want {
			t.Errorf("%s is titled %q (%v), want %q", name, got, err, want)
		}
	}
	// Where a write is not synced, the name says so.
	for name, kind := range All {
		d := kind.New(Programs{}).Durability()
		if synced := strings.HasSuffix(d.Write, "synced on 2 of 3"); synced == strings.Contains(d.Write, "NOT synced") {
			t.Errorf("%s: %q", name, d.Write)
		}
	}
}
