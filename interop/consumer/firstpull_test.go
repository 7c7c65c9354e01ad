package consumer

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tidemark-mq/tidemark/interop/fleet"
)

// firstPull takes the cluster away between the read that an orderly queue of a
// 4.9 client begins with and its first pull, before which it is read again. What
// RocketMQ calls -2 would be offset -1 there, and all messages would come again
// (apache/rocketmq#2708). They come from where the group is, once that can be read.
func firstPull(t *testing.T, s *scene) {
	topic := s.topic("firstpull", fleet.Orderly)
	s.send(t, topic, 0, 60)
	for q := range queues {
		s.cluster.Tidemark("commit", topic, topic, strconv.Itoa(q), "20", "--broker", s.broker.Name, "--execute").Want(t, 0, "", "")
	}
	dir := t.TempDir()
	c := s.process(t, dir).start(t, fleet.Orderly, topic, topic, 0)
	logged := func(what string) func() bool {
		return func() bool {
			text, err := os.ReadFile(filepath.Join(dir, "logs", "rocketmqlogs", "rocketmq_client.log"))
			return err == nil && bytes.Count(text, []byte(what)) > 0
		}
	}
	until(t, logged("not locked in broker, PullRequest [consumerGroup="+topic+", messageQueue=MessageQueue [topic="+topic), c.p.Said)
	for _, n := range s.cluster.Names() {
		s.cluster.Sh("kill", n)
	}
	until(t, logged("Failed to compute pull offset"), c.p.Said)
	for _, n := range s.cluster.Names() {
		s.cluster.Sh("start", n)
	}
	c.await(0, 20, 60)
	if again := c.since(0, 0, 20); len(again) != 0 {
		t.Errorf("%d messages came again that were consumed before", len(again))
	}
	s.awaitStored(t, topic, each(60))
}
