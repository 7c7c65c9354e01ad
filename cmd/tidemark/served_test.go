package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// real runs the program against a cluster with raft, disks and connections.
type real struct {
	*served.Cluster
	// before is told of each act before it is sent; nil: nobody.
	before func(offset.Act)
}

// watched tells real of acts.
type watched struct {
	*client.Client
	r *real
}

func (w watched) Act(ctx context.Context, a offset.Act) (offset.ActResult, offset.Meta, error) {
	if w.r.before != nil {
		w.r.before(a)
	}
	return w.Client.Act(ctx, a)
}

func (r *real) tidemark(t *testing.T, args ...string) ran {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), append([]string{"--timeout", "20s"}, args...), streams{out: &out, err: &errs}, func([]string) (cluster, error) {
		return watched{r.Client(), r}, nil
	})
	return ran{code, out.String(), errs.String()}
}

// TestRealCluster takes the files through a cluster of three: what goes in
// comes out, also on the nodes that do not lead.
func TestRealCluster(t *testing.T) {
	r := &real{Cluster: served.Start(t, 3)}
	r.tidemark(t, "import", cases+"C57.5.5.0.consumerOffset.json", "--broker", "b1", "--execute").want(t, exitPartial, "42 changed", "1 place was skipped")
	r.tidemark(t, "import", cases+"C01.consumerOffset.json.bak", "--broker", "b2", "--execute").want(t, 0, "16 changed", "is read as")
	r.tidemark(t, "import", cases+"C17.consumerOffset.json", "--execute").want(t, exitBadInput, "", "line 7, column 19")

	r.tidemark(t, "get", "search_index", "refunds", "2", "--broker", "b1", "-o", "json").want(t, 0, `"9223372036854775807"`, "")
	r.tidemark(t, "get", "search_index", "refunds", "0").want(t, exitNotFound, "", "no offset")
	r.tidemark(t, "commit", "--execute", "--broker", "b1", "--", "a/b %2F+c", "t", "0", "9").want(t, 0, "-> 9", "")
	r.tidemark(t, "get", "a/b %2F+c").want(t, 0, "9", "")
	r.tidemark(t, "export").want(t, exitBadInput, "", "holds one broker's offsets")

	path := filepath.Join(t.TempDir(), "b2.json")
	r.tidemark(t, "export", path, "--broker", "b2").want(t, 0, "16 offsets", "")
	want, err := offsetfile.ReadPath(cases+"C01.consumerOffset.json.bak", offsetfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := offsetfile.ReadPath(path, offsetfile.Options{})
	if err != nil || got.Hash() != want.Hash() {
		t.Errorf("what was exported is not what was imported: %v", err)
	}
	r.tidemark(t, "import", cases+"C05.fresh.consumerOffset.json", "--replace", "--execute").want(t, exitRefused, "", "would remove 59 offsets")
	r.tidemark(t, "group", "remove", "pay", "--execute").want(t, 0, "removed 17 offsets", "")
	r.tidemark(t, "group", "describe", "pay").want(t, exitNotFound, "", "pay")

	st := r.status(t)
	if len(st.Members) != 3 || st.Groups == 0 || len(st.Problems) != 0 {
		t.Errorf("status is %+v", st)
	}
	r.tidemark(t, "cluster", "transfer", "--execute").want(t, 0, "leadership is with", "")
	r.tidemark(t, "cluster", "snapshot").want(t, 0, "snapshot of", "")
	r.tidemark(t, "cluster", "remove", "nobody", "--execute").want(t, exitNotFound, "", "nobody")
	r.dump(t)
}

// dump looks into the folders of the members once they have stopped.
func (r *real) dump(t *testing.T) {
	t.Helper()
	r.tidemark(t, "dump", "log", r.Members[0].Dir).want(t, exitRefused, "", "is in use")
	r.Stop()
	var found int
	for _, m := range r.Members {
		log := r.tidemark(t, "dump", "log", m.Dir).want(t, 0, `"kind":"import"`, "")
		if part := r.tidemark(t, "dump", "log", m.Dir, "--from", "3", "--to", "4"); strings.Count(part.out, `{"log":`) != 2 || len(part.out) > len(log.out) {
			t.Errorf("entries 3 and 4 are %s", part.out)
		}
		var list snapshotsResult
		out := r.tidemark(t, "dump", "snapshot", m.Dir, "-o", "json").want(t, 0, "snapshots", "")
		if err := json.Unmarshal([]byte(out.out), &list); err != nil {
			t.Fatal(err)
		}
		for _, x := range list.Snapshots {
			found++
			r.tidemark(t, "dump", "snapshot", x.Path).want(t, 0, `{"end":`, "")
		}
	}
	if found == 0 {
		t.Error("no member has a snapshot, though one was taken")
	}
}

func (r *real) status(t *testing.T) (st statusResult) {
	t.Helper()
	out := r.tidemark(t, "cluster", "status", "-o", "json").want(t, 0, "{", "")
	if err := json.Unmarshal([]byte(out.out), &st); err != nil {
		t.Fatal(err)
	}
	return st
}

// TestLeaderKilledDuringImport: the import goes on with the next leader, and
// ends where one without a fault ends; status tells how far it is.
func TestLeaderKilledDuringImport(t *testing.T) {
	r := &real{Cluster: served.Start(t, 3)}
	path := largeFile(t)
	var once sync.Once
	r.before = func(a offset.Act) {
		if a.Import == nil || a.Import.Step != offset.ImportChunk || a.Import.Chunk != 2 {
			return
		}
		once.Do(func() {
			if st := r.status(t); st.Import == nil || st.Import.Next != 2 {
				t.Errorf("status tells of the import %+v", st.Import)
			}
			r.Leader().Kill()
		})
	}
	r.tidemark(t, "import", path, "--execute").want(t, 0, "48000 changed, 0 left", "is read as")
	out := filepath.Join(t.TempDir(), "out.json")

	r.tidemark(t, "export", out).want(t, 0, "48000 offsets", "")
	want, err := offsetfile.ReadPath(path, offsetfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := offsetfile.ReadPath(out, offsetfile.Options{})
	if err != nil || got.Hash() != want.Hash() {
		t.Errorf("the cluster does not hold the file: %v", err)
	}
	st := r.tidemark(t, "cluster", "status")
	if st.code != exitUnhealthy || !strings.Contains(st.err, "unreachable") {
		t.Errorf("with a member down, status gives %+v", st)
	}
}
