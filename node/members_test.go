package node_test

import (
	"testing"

	"github.com/tidemark-mq/tidemark/internal/incluster"
)

// addMember brings a started member into the cluster as a nonvoter.
func addMember(c *incluster.Cluster, through, m *incluster.Member) {
	c.TB.Helper()
	c.Until(m.Name+" has an id", func() bool { return m.Status().NodeID != "" })
	_, err := through.Node().AddMember(within(c.TB, incluster.Patience), incluster.Operator, m.ID(), m.Config.AdvertisePeer)
	if err != nil {
		c.TB.Fatalf("adding %s: %v", m.Name, err)
	}
	c.WaitReady(m)
}

func TestAddMember(t *testing.T) {}
