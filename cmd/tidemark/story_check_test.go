package main

import (
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// vitals are those of a member on which nothing is wrong.
func vitals() offset.Vitals {
	return offset.Vitals{
		Clock: fakeNow().UnixMilli(), Lease: 300 * time.Millisecond, DiskFree: 60 << 30, DiskTotal: 100 << 30,
		DiskWrites: 1000, DiskTime: 400 * time.Millisecond, DiskLongest: 9 * time.Millisecond, Commits: 77,
	}
}

func tellCheckHealth(s *telling) {
	f := s.fake
	f.join("n2/bb", true, time.Millisecond)
	f.join("n3/cc", true, 2*time.Millisecond)
	f.answering = true
	f.alter = func(_ string, st *offset.Status) { st.Vitals = vitals() }
	s.forms("check", "health")
	s.tidemark("check")

	// All that can be wrong with members that answer.
	f.alter = func(addr string, st *offset.Status) {
		st.Vitals, st.LastIndex = vitals(), 9000
		st.Members[1].Match, st.Members[2].Match = 9000, 4000
		switch {
		case strings.HasPrefix(addr, "n2"):
			st.NotReady = "it catches up"
			st.Vitals.Clock += 5000
			st.Vitals.DiskFree = 1 << 30
			st.Vitals.Lease = time.Second
			st.Version = "v2"
		case strings.HasPrefix(addr, "n3"):
			st.Digest = offset.Digest{1}
			st.Vitals.DiskTime, st.Vitals.DiskLongest = 400*time.Second, 500*time.Millisecond
		}
	}
	s.forms("check", "health")
}

func tellCheckHealthDown(s *telling) {
	f := s.fake
	f.join("n2/bb", true, time.Minute)
	f.alter = func(_ string, st *offset.Status) { st.Vitals = vitals(); st.Vitals.DiskLongest = time.Second }
	s.tidemark("check", "health")
	f.status.State, f.status.Members[0].Leader = "candidate", false
	s.tidemark("check", "health")
	f.down = offset.Errorf(offset.ErrUnreachable, "nobody is there")
	s.tidemark("check", "health")
}
