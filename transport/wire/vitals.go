package wire

import (
	"math"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

func toVitals(v *offset.Vitals) *tidemarkv1.Vitals {
	if *v == (offset.Vitals{}) {
		return nil
	}
	return &tidemarkv1.Vitals{
		ClockMs:       v.Clock,
		LeaseMs:       uint32(v.Lease.Milliseconds()),
		DiskFree:      v.DiskFree,
		DiskTotal:     v.DiskTotal,
		DiskNeeded:    v.DiskNeeded,
		DiskWrites:    v.DiskWrites,
		DiskWriteUs:   uint64(v.DiskTime.Microseconds()),
		DiskLongestUs: uint64(v.DiskLongest.Microseconds()),
		Commits:       v.Commits,
		Entries:       v.Entries,
		QueueUs:       uint64(v.Stages.Queue.Microseconds()),
		LogUs:         uint64(v.Stages.Log.Microseconds()),
		QuorumUs:      uint64(v.Stages.Quorum.Microseconds()),
		HandoverUs:    uint64(v.Stages.Handover.Microseconds()),
		ApplyUs:       uint64(v.Stages.Apply.Microseconds()),
	}
}

// fromVitals reads them; a build that does not send them leaves them zero.
func fromVitals(m *tidemarkv1.Vitals) offset.Vitals {
	return offset.Vitals{
		Clock:       m.GetClockMs(),
		Lease:       time.Duration(m.GetLeaseMs()) * time.Millisecond,
		DiskFree:    m.GetDiskFree(),
		DiskTotal:   m.GetDiskTotal(),
		DiskNeeded:  m.GetDiskNeeded(),
		DiskWrites:  m.GetDiskWrites(),
		DiskTime:    fromMicros(m.GetDiskWriteUs()),
		DiskLongest: fromMicros(m.GetDiskLongestUs()),
		Commits:     m.GetCommits(),
		Entries:     m.GetEntries(),
		Stages: offset.Stages{
			Queue:    fromMicros(m.GetQueueUs()),
			Log:      fromMicros(m.GetLogUs()),
			Quorum:   fromMicros(m.GetQuorumUs()),
			Handover: fromMicros(m.GetHandoverUs()),
			Apply:    fromMicros(m.GetApplyUs()),
		},
	}
}

// fromMicros reads a duration; what does not fit is the longest there is.
func fromMicros(us uint64) time.Duration {
	return time.Duration(min(us, math.MaxInt64/uint64(time.Microsecond))) * time.Microsecond
}
