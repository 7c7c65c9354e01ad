package interop

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// names of every shape that RocketMQ's files hold, or could.
var names = []string{
	"orders", "%RETRY%billing", "%DLQ%billing", "ns%orders", "%RETRY%ns%billing", "%RETRY%billing+orders",
	"orders.v2", "a|b", "${mq.ns}%t", "a/b", "two words", `a"b\c`, "主题", "组一", "übung", "😀",
}

// broker is what a broker's file holds, each queue of which is told apart.
func broker(lmq bool) map[offset.Key]int64 {
	m := make(map[offset.Key]int64)
	for i, name := range names {
		for q := range int32(3) {
			mq := offset.MessageQueue{Topic: name, Broker: "bk", QueueID: q * 7}
			m[offset.Key{Group: "billing", MessageQueue: mq}] = int64(i*10) + int64(q)
		}
		m[offset.Key{Group: name, MessageQueue: offset.MessageQueue{Topic: "orders", Broker: "bk"}}] = 1<<62 + int64(i)
		m[offset.Key{Group: name + "@broadcast", MessageQueue: offset.MessageQueue{Topic: name, Broker: "bk", QueueID: 1 << 30}}] = int64(i)
	}
	if lmq {
		m[offset.Key{Group: "%LMQ%GID_fleet@@@van-07", MessageQueue: offset.MessageQueue{Topic: "%LMQ%fleet%cmd%", Broker: "bk"}}] = 77
		m[offset.Key{Group: "%LMQ%组", MessageQueue: offset.MessageQueue{Topic: "主题", Broker: "bk"}}] = 0
	}
	return m
}

// broadcast is what a broadcasting consumer's file holds.
func broadcast() map[offset.MessageQueue]int64 {
	m := make(map[offset.MessageQueue]int64)
	for i, name := range names {
		m[offset.MessageQueue{Topic: name, Broker: "bk-north", QueueID: 1}] = int64(i)
		m[offset.MessageQueue{Topic: name, Broker: "bk-south", QueueID: 1}] = 1<<62 + int64(i)
		m[offset.MessageQueue{Topic: "orders", Broker: name}] = 7
	}
	return m
}

// java is RocketMQ's classes of one version, which read and write files.
type java struct {
	*javaparts.Program
	dir string // of LocalFileOffsetStore
}

func (j *java) ask(command string, args ...string) []string {
	return j.Ask(append([]string{command}, args...)...)
}

// TestOffsetFiles has each version read our files and write its own.
func TestOffsetFiles(t *testing.T) {
	for _, set := range []javaparts.Set{javaparts.RocketMQ5Set, javaparts.RocketMQ4Set} {
		t.Run(string(set), func(t *testing.T) {
			dir := t.TempDir()
			options := []string{"-Drocketmq.client.localOffsetStoreDir=" + dir, "-Duser.home=" + t.TempDir()}
			program := javaparts.Source{Set: set, File: "offsets/Offsets.java", Options: options}
			j := &java{program.Start(t), dir}
			t.Run("a broker reads ours", j.readsOurs)
			t.Run("we read a broker's", j.writesTheirs)
			t.Run("a broadcasting consumer's folder", j.sharesAFolder)
		})
	}
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// brokerEntries writes offsets as the program's arguments.
func brokerEntries(m map[offset.Key]int64) (list []string) {
	for k, n := range m {
		list = append(list, fmt.Sprintf("%s:%d:%d", b64(k.Topic+"@"+k.Group), k.QueueID, n))
	}
	return list
}

func localEntries(m map[offset.MessageQueue]int64) (list []string) {
	for mq, n := range m {
		list = append(list, fmt.Sprintf("%s:%s:%d:%d", b64(mq.Topic), b64(mq.Broker), mq.QueueID, n))
	}
	return list
}

// same compares what the program said with what it should have.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: RocketMQ reads %d offsets, want %d:\n%v\n%v", what, len(got), len(want), got, want)
	}
}

// fromFile reads a file as "tidemark import" does.
func fromFile(t *testing.T, path string) map[offset.Key]int64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := offsetfile.Read(f, offsetfile.Options{Broker: "bk"})
	if err != nil {
		t.Fatalf("reading what RocketMQ wrote: %v", err)
	}
	m := make(map[offset.Key]int64)
	for target := range file.All() {
		m[target.Key] = target.Offset
	}
	return m
}

// toFile writes a file as "tidemark export" does, over what base holds if it is not empty.
func toFile(t *testing.T, path string, m map[offset.Key]int64, base string) {
	t.Helper()
	targets := make([]offset.Target, 0, len(m))
	for k, n := range m {
		targets = append(targets, offset.Target{Key: k, Offset: n})
	}
	slices.SortFunc(targets, func(a, b offset.Target) int { return a.Key.Compare(b.Key) })
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if base == "" {
		err = offsetfile.WriteJSON(f, slices.Values(targets), nil)
	} else {
		var b *os.File
		if b, err = os.Open(base); err == nil {
			defer b.Close()
			err = offsetfile.WriteJSON(f, slices.Values(targets), b)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (j *java) readsOurs(t *testing.T) {
	dir := t.TempDir()
	plain, lmq, over := filepath.Join(dir, "consumerOffset.json"), filepath.Join(dir, "lmqConsumerOffset.json"), filepath.Join(dir, "over.json")
	toFile(t, plain, broker(false), "")
	same(t, "consumerOffset.json", j.ask("broker-load", plain), brokerEntries(broker(false)))
	toFile(t, lmq, broker(true), "")
	same(t, "lmqConsumerOffset.json", j.ask("lmq-load", lmq), brokerEntries(broker(true)))

	// Over what the broker wrote before: its other keys stay.
	before := map[offset.Key]int64{
		{Group: "billing", MessageQueue: offset.MessageQueue{Topic: "orders", Broker: "bk"}}:              1,
		{Group: "its-own", MessageQueue: offset.MessageQueue{Topic: "主题", Broker: "bk", QueueID: 5}}:      5,
		{Group: "%LMQ%own", MessageQueue: offset.MessageQueue{Topic: "%LMQ%own", Broker: "bk"}}:           6,
		{Group: "billing", MessageQueue: offset.MessageQueue{Topic: "orders", Broker: "bk", QueueID: 99}}: 7,
	}
	j.ask("lmq-persist", append([]string{over + ".base"}, brokerEntries(before)...)...)
	toFile(t, over, broker(true), over+".base")
	maps.Copy(before, broker(true))
	same(t, "a file over a broker's", j.ask("lmq-load", over), brokerEntries(before))
}

func (j *java) writesTheirs(t *testing.T) {
	for command, want := range map[string]map[offset.Key]int64{
		"broker-persist": broker(false), "broker-body": broker(false), "lmq-persist": broker(true),
	} {
		path := filepath.Join(t.TempDir(), "file")
		j.ask(command, append([]string{path}, brokerEntries(want)...)...)
		if got := fromFile(t, path); !maps.Equal(got, want) {
			t.Errorf("%s: we read %d offsets, want %d: %v", command, len(got), len(want), got)
		}
	}
}

// A broadcasting consumer's folder goes from us to Java and back.
func (j *java) sharesAFolder(t *testing.T) {
	const id, group = "127.0.0.1@DEFAULT", "moss-readers"
	store := func() *client.LocalFileStore {
		s, err := client.NewLocalFileStore(id, group, client.WithLocalDir(j.dir), client.WithPersistInterval(0))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close(context.Background()) })
		if err := s.Load(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	ours := store()
	for mq, n := range broadcast() {
		ours.UpdateOffset(mq, n, false)
	}
	if err := ours.PersistAll(t.Context(), slices.Collect(maps.Keys(broadcast()))); err != nil {
		t.Fatal(err)
	}
	same(t, "offsets.json", j.ask("local-load", b64(id), b64(group)), localEntries(broadcast()))

	moved := map[offset.MessageQueue]int64{{Topic: "组一", Broker: "bk-south", QueueID: 1}: 4711}
	j.ask("local-persist", append([]string{b64(id), b64(group)}, localEntries(moved)...)...)
	want := broadcast()
	maps.Copy(want, moved)
	theirs := store()
	for mq, n := range want {
		got, err := theirs.ReadOffset(t.Context(), mq, client.ReadFromStore)
		if err != nil || got != n {
			t.Errorf("%v: we read %d, %v from what RocketMQ wrote; want %d", mq, got, err, n)
		}
	}
	if _, err := theirs.ReadOffset(t.Context(), offset.MessageQueue{Topic: "other"}, client.ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
		t.Errorf("a queue that the file does not hold: %v", err)
	}
}
