package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

func tellContexts(s *telling) {
	s.fake.saved = filepath.Join(s.dir(), "tidemark", "contexts.json")
	s.forms("contexts", "list")
	s.tidemark("contexts", "show")
	s.tidemark("contexts", "add", "prod", "n1.example:7411", "n2.example:7411", "n3.example:7411", "--use")
	s.tidemark("contexts", "add", "test", "t1.example:7411,t2.example:7411")
	s.forms("contexts", "list")
	s.tidemark("contexts", "use", "test")
	s.forms("contexts", "show")
	s.tidemark("contexts", "show", "prod")
	s.tidemark("contexts", "add", "prod", "n4.example:7411")
	s.tidemark("contexts", "add", "prod", "n4.example:7411", "--replace")
	s.tidemark("contexts", "remove", "test")
	s.tidemark("contexts", "show")
	s.tidemark("contexts", "use", "nowhere")
	s.tidemark("contexts", "remove", "nowhere")
	s.tidemark("contexts", "add", "prod")
	write(s.T, s.fake.saved, "{")
	s.tidemark("contexts", "list")
	s.tidemark("group", "list")
}

func tellCluster(s *telling) {
	s.billing()
	s.fake.join("n2/bb", true, time.Millisecond)
	s.fake.join("n3/cc", false, -1)
	s.fake.answering = true
	s.forms("cluster", "status")
	s.forms("cluster", "add", "n4/dd", "n4:7412")
	for _, args := range [][]string{{"add", "n4/dd", "n4:7412"}, {"promote", "n3/cc"}, {"transfer", "n2"}, {"transfer"}, {"remove", "n3/cc"}} {
		s.tidemark(append([]string{"cluster"}, args...)...)
		s.tidemark(append(append([]string{"cluster"}, args...), "--execute")...)
	}
	s.forms("cluster", "snapshot")
	s.tidemark("cluster", "raise-level", "1")
	s.tidemark("cluster", "raise-level", "2")
	for _, args := range [][]string{{"add", "n4", "n4:7412"}, {"add", "n4/dd", "n4"}, {"add", "n4/dd"}, {"promote", "n9"}, {"promote"}, {"remove", "n9"}, {"remove"}, {"transfer", "n9"}, {"transfer", "n1"}} {
		s.tidemark(append([]string{"cluster"}, args...)...)
	}
}

func tellClusterClaims(s *telling) {
	s.tidemark("cluster", "claims")
	s.claim("broker-a", "DefaultCluster/3f2a91c07be45d18")
	s.forms("cluster", "claims")
	s.tidemark("cluster", "claims", "--broker", "broker-a")
	s.tidemark("cluster", "claims", "--group", "billing")
}

func tellClusterUnhealthy(s *telling) {
	s.fake.join("n2/bb", true, time.Minute)
	s.forms("cluster", "status")
	s.fake.status.State, s.fake.status.Members[0].Leader = "candidate", false
	s.tidemark("cluster", "status")
	s.tidemark("cluster", "transfer")
}

// tellClusterLowSpace: one disk may be full before the next snapshot is written,
// and of another nobody knows.
func tellClusterLowSpace(s *telling) {
	s.fake.join("n2/bb", true, time.Millisecond)
	s.fake.join("n3/cc", true, time.Millisecond)
	s.fake.answering = true
	s.fake.alter = func(addr string, st *offset.Status) {
		st.Vitals = vitals()
		st.Vitals.DiskNeeded = 600 << 20
		if strings.HasPrefix(addr, "n2") {
			st.Vitals.DiskFree = 200 << 20
		}
		if strings.HasPrefix(addr, "n3") {
			st.Vitals.DiskFree, st.Vitals.DiskTotal = 0, 0
		}
	}
	s.forms("cluster", "status")
	s.tidemark("check", "health")
}

func tellVersion(s *telling) {
	s.words = append(s.words, runtime.Version(), "go1.N")
	s.forms("version")
}

func tellRescue(s *telling) {
	s.billing()
	file := filepath.Join(s.dir(), "all.backup")
	s.tidemark("cluster", "backup", file)
	old, data := filepath.Join(s.dir(), "tidemark.old"), filepath.Join(s.dir(), "tidemark")
	s.forms("cluster", "rescue", file, data)
	s.tidemark("cluster", "rescue", file, data, "--execute")
	s.tidemark("cluster", "rescue", file, data, "--execute", "--old-cluster-is-gone")
	if err := os.Rename(data, old); err != nil { // a folder to be rescued from, as a stopped member leaves it
		s.Fatal(err)
	}
	s.forms("cluster", "rescue", old, data)
	s.tidemark("cluster", "rescue", old, data, "--name", "n2", "--execute", "--old-cluster-is-gone")
	s.tidemark("cluster", "rescue", old, data)
	s.tidemark("cluster", "rescue", data, filepath.Join(s.dir(), "none", "tidemark"))
	s.tidemark("cluster", "rescue", data, filepath.Join(data, "new"))
	s.tidemark("cluster", "rescue", s.dir(), data+".new")
	s.tidemark("cluster", "rescue", filepath.Join(s.dir(), "none"), data+".new")
	s.tidemark("cluster", "rescue", old, data+".new", "--name", "n 2")
	s.tidemark("cluster", "rescue", old)
}

func tellBackup(s *telling) {
	s.billing()
	file := filepath.Join(s.dir(), "all.backup")
	s.forms("cluster", "backup", file, "--overwrite")
	s.tidemark("cluster", "backup", file)
	s.forms("check", "backup", file)
	s.tidemark("dump", "backup", file)
	s.tidemark("group", "reset", "billing", "--to-offset", "40", "--execute")
	s.set(7, key("later", "orders", "broker-a", 0))
	s.forms("cluster", "restore", file)
	s.tidemark("cluster", "restore", file, "--execute")
	s.tidemark("cluster", "restore", file, "--execute", "--allow-removal", "--expect-index", "1")
	s.tidemark("cluster", "restore", file, "--execute", "--allow-removal")
	s.tidemark("cluster", "restore", file)
	data := readFile(s.T, file)
	write(s.T, file, data[:len(data)-1])
	s.tidemark("check", "backup", file)
	s.tidemark("cluster", "restore", file, "--execute")
	s.tidemark("check", "backup", filepath.Join(s.dir(), "missing.backup"))
	s.tidemark("check", "backup", s.dir())
	s.tidemark("cluster", "backup", s.dir())
	s.tidemark("cluster", "backup")
}
