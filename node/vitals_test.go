package node_test

import (
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
)

// TestVitals: a member tells how its disk, its clock and its timers are.
func TestVitals(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Leader()
	before := m.Status().Vitals
	for q := range int32(3) {
		m.MustCommit(incluster.Key("g", q), 1)
	}
	v := m.Status().Vitals
	if v.Commits != before.Commits+3 {
		t.Errorf("%d commits after %d, and 3 were made", v.Commits, before.Commits)
	}
	if v.DiskWrites < before.DiskWrites+1 || v.DiskTime <= before.DiskTime || v.DiskLongest <= 0 || v.DiskLongest > v.DiskTime {
		t.Errorf("writes were %+v, are %+v", before, v)
	}
	if v.DiskFree == 0 || v.DiskFree > v.DiskTotal {
		t.Errorf("%d bytes of %d are free", v.DiskFree, v.DiskTotal)
	}
	if v.Lease < 10*time.Millisecond || v.Lease > 10*time.Second {
		t.Errorf("the lease is %s", v.Lease)
	}
	if age := time.Since(time.UnixMilli(v.Clock)); age < -time.Second || age > incluster.Patience {
		t.Errorf("the clock is %s behind", age)
	}
}
