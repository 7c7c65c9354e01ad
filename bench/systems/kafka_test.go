package systems

import (
	"slices"
	"strings"
	"testing"
)

// Two of three brokers must have a commit, and one of the two systems syncs it:
// nothing else tells them apart.
func TestKafkaSettings(t *testing.T) {
	of := func(k *kafka) []string {
		k.dir, k.client, k.election = "dir", [Nodes]int{1, 2, 3}, [Nodes]int{4, 5, 6}
		return strings.Split(k.settings(1), "\n")
	}
	synced, shipped := of(&kafka{synced: true}), of(&kafka{})
	for _, want := range []string{"node.id=2", "min.insync.replicas=2", "offsets.topic.replication.factor=3", "controller.quorum.voters=1@127.0.0.1:4,2@127.0.0.1:5,3@127.0.0.1:6"} {
		if !slices.Contains(shipped, want) {
			t.Errorf("%s is not in %q", want, shipped)
		}
	}
	more := slices.DeleteFunc(synced, func(line string) bool { return slices.Contains(shipped, line) })
	if !slices.Equal(more, []string{"log.flush.interval.messages=1"}) {
		t.Errorf("to sync is to set %q", more)
	}
}
