package processes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// TestCleanDeletesOnlyWhatUpHasMade: a run folder may be named in which somebody
// has other things, also one in which nodes have run since.
func TestCleanDeletesOnlyWhatUpHasMade(t *testing.T) {
	c := local.New(t, 1)
	mine := filepath.Join(c.Run, "mine")
	if err := errors.Join(os.Mkdir(c.Run, 0o700), os.WriteFile(mine, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		if out, err := script(c, "cluster.sh", "clean"); err == nil || !strings.Contains(out, "delete it yourself") || !exists(mine) {
			t.Errorf("clean of another folder: %v, %s", err, out)
		}
		if out, err := script(c, "story.sh"); err == nil || !exists(mine) {
			t.Errorf("a proof in another folder: %v, %s", err, out)
		}
	}
	refused()
	c.Sh("up", "1")
	refused()
	c.Sh("down")
	if err := os.RemoveAll(c.Run); err != nil {
		t.Fatal(err)
	}
	c.Sh("up", "1")
	c.Sh("clean")
	if exists(c.Run) {
		t.Error("clean left the folder that up has made")
	}
	c.Sh("clean")
}

// TestAProofLeavesAKeptCluster as it is, and running; what a proof has left there
// goes.
func TestAProofLeavesAKeptCluster(t *testing.T) {
	c := local.Start(t, 1)
	pid := pids(t, c)["n1"]
	for _, proof := range []string{"story.sh", "failover.sh", "traced.sh", "transcript.sh"} {
		if out, err := script(c, proof); err == nil || !strings.Contains(out, "that no proof has made") {
			t.Errorf("%s: %v, %s", proof, err, out)
		}
	}
	if !runs(pid) || !exists(filepath.Join(c.Run, "n1", "data")) {
		t.Error("a proof has stopped or deleted the cluster")
	}
	c.Sh("clean")
	c.Sh("anew", "1")
	left := filepath.Join(c.Run, "left")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Sh("anew", "1")
	if exists(left) {
		t.Error("what a proof has left is there")
	}
}

// TestNoClusterLacksTLSInSilence: where certificates could not be made there is no
// cluster yet, and one that has none is not started as if it had.
func TestNoClusterLacksTLSInSilence(t *testing.T) {
	c := local.New(t, 1, local.Programs(t.TempDir()), local.Env("CLUSTER_TLS", "1"))
	fails := func(says string) {
		t.Helper()
		if out, err := script(c, "cluster.sh", "up", "1"); err == nil || !strings.Contains(out, says) {
			t.Errorf("%v, %s; want %q", err, out, says)
		}
	}
	fails("make build")
	tool := "#!/bin/sh\n[ $2 != ca ] || mkdir $3\n[ $1 = cert ]\n" // no token

	if err := os.WriteFile(filepath.Join(c.Bin, "tidemark"), []byte(tool), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		fails("")
		if exists(filepath.Join(c.Run, "size")) || exists(filepath.Join(c.Run, "secrets")) {
			t.Fatal("there is a cluster without a token")
		}
	}
	if err := os.WriteFile(filepath.Join(c.Run, "size"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails("made without TLS")
}
