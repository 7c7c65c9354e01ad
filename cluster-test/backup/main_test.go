package backup

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/fsm/backup"
	"github.com/tidemark-mq/tidemark/offset"
)

func TestMain(m *testing.M) { local.Main(m) }

// moss are n keys, each on a topic of its own, so that they fill several chunks
// of an import.
func moss(n int) (keys []offset.Key) {
	for i := range n {
		keys = append(keys, offset.Key{Group: "moss", MessageQueue: offset.MessageQueue{Topic: fmt.Sprintf("t%05d", i), Broker: "b"}})
	}
	return keys
}

// raise commits an offset to each key, by an import that keeps the larger one.
func raise(c *local.Cluster, keys []offset.Key, to int64) {
	c.TB.Helper()
	path := filepath.Join(c.TB.TempDir(), "offsets.csv")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		c.TB.Fatal(err)
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"group", "topic", "broker", "queue", "offset"}) // Flush keeps the error
	for _, k := range keys {
		_ = w.Write([]string{k.Group, k.Topic, k.Broker, fmt.Sprint(k.QueueID), fmt.Sprint(to)})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		c.TB.Fatal(err)
	}
	if err := f.Close(); err != nil {
		c.TB.Fatal(err)
	}
	c.Tidemark("import", path, "--execute").Want(c.TB, 0, "", "")
}

// take takes a backup through some endpoints and reads it.
func take(c *local.Cluster, path, endpoints string, args ...string) *backup.Backup {
	c.TB.Helper()
	c.TidemarkAt(ask.Within(c.TB, ask.Patience), endpoints, append([]string{"cluster", "backup", path}, args...)...).Want(c.TB, 0, "offsets of cluster", "")
	c.TidemarkAt(ask.Within(c.TB, ask.Patience), "127.0.0.1:1", "check", "backup", path).Want(c.TB, 0, "is whole", "")
	f, err := os.Open(path)
	if err != nil {
		c.TB.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		c.TB.Fatal(err)
	}
	b, err := backup.Read(f, st.Size())
	if err != nil {
		c.TB.Fatal(err)
	}
	return b
}

// content is what a backup holds of offsets, line by line.
func content(b *backup.Backup) string {
	var all strings.Builder
	b.Root.Walk(&offset.List{}, func(ks offset.KeyedState) bool {
		fmt.Fprintf(&all, "%s=%d\n", ks.Key, ks.Position.Offset)
		return true
	})
	return all.String()
}

// all demands that a node reads each key as that value.
func all(tb testing.TB, n *ask.Node, at offset.ReadAt, keys []offset.Key, value int64) {
	tb.Helper()
	for from := 0; from < len(keys); from += offset.MaxPage {
		part := keys[from:min(len(keys), from+offset.MaxPage)]
		states, _, err := n.Fetch(ask.Within(tb, ask.Patience), at, part...)
		if err != nil {
			tb.Fatalf("%s: %v", n.Name, err)
		}
		for i, s := range states {
			if ask.Value(s) != value {
				tb.Fatalf("%s reads %s as %d, want %d", n.Name, part[i], ask.Value(s), value)
			}
		}
	}
}
