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
			k := w.keys(i)[n]
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

// In one group, too, callers share no key, and there are as many topics as are told.
func TestKeysOfOneGroup(t *testing.T) {
	w := Work{Op: Write, Callers: 5, Batch: 7, OneGroup: true}
	seen, topics := map[Key]bool{}, map[string]bool{}
	for i := range w.Callers {
		for _, k := range w.keys(i) {
			if seen[k] || k.Group != w.keys(0)[0].Group {
				t.Errorf("caller %d has %v", i, k)
			}
			seen[k], topics[k.Topic] = true, true
		}
	}
	if len(seen) != 35 || len(topics) != w.topics() {
		t.Errorf("%d keys in %d topics; told are %d topics", len(seen), len(topics), w.topics())
	}
	if n := (Work{Callers: 5, Batch: 33}).topics(); n != 3 {
		t.Errorf("5 groups of 33 have %d topics, want 3", n)
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
	if _, err := Named("mysql", Programs{}); err == nil || !strings.Contains(err.Error(), "etcd, kafka, kafka-default, nats") {
		t.Errorf("the error is %v", err)
	}
	for name, want := range map[string]string{"tidemark-wal": "Tidemark 1.2, wal", "etcd": "etcd 1.2", "nats-default": "NATS JetStream KV 1.2, as shipped", "kafka": "Kafka group coordinator 1.2"} {
		kind, err := KindOf(name)
		if got := kind.Titled("1.2"); err != nil || got != want {
			t.Errorf("%s is titled %q (%v), want %q", name, got, err, want)
		}
	}
	// Where a write is not synced, the name says so.
	for name, kind := range All {
		if (kind.Set != "") != (kind.Jar != "") {
			t.Errorf("%s is of the jars %q, its own is %q", name, kind.Set, kind.Jar)
		}
		d := kind.New(Programs{}).Durability()
		if synced := strings.HasSuffix(d.Write, "synced on 2 of 3"); synced == strings.Contains(d.Write, "NOT synced") {
			t.Errorf("%s: %q", name, d.Write)
		}
	}
}
