package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/internal/ports"
	"github.com/tidemark-mq/tidemark/node"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
)

// freePort gives an address that nobody else gets until the test has ended.
func freePort(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", ports.Free(t))
}

// What was acknowledged is there after a stop and a start, the stop is clean,
// and so is the exit code.
func TestStopAndStart(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	args := dev(t, "--data", data)
	for i, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := spawn(t, args...)
		p.ready(t)
		api := tidemarkv1connect.NewOffsetServiceClient(http.DefaultClient, "http://"+p.api)
		key := &tidemarkv1.Key{Group: "g", Topic: "t"}
		got, err := api.Fetch(t.Context(), connect.NewRequest(&tidemarkv1.FetchRequest{Keys: []*tidemarkv1.Key{key}}))
		if err != nil {
			t.Fatal(err)
		}
		if st := got.Msg.GetStates()[0]; st.GetExists() != (i > 0) || i > 0 && st.GetPosition().GetOffset() != 100 {
			t.Errorf("start %d: the key is %v", i+1, st)
		}
		_, err = api.Commit(t.Context(), connect.NewRequest(&tidemarkv1.CommitRequest{
			ClusterId: got.Msg.GetMeta().GetClusterId(),
			Commits:   []*tidemarkv1.TopicCommits{{Group: "g", Topic: "t", QueueIds: []int32{0}, Offsets: []int64{100}, Epochs: []uint64{0}}},
		}))
		if err != nil {
			t.Fatal(err)
		}
		http.DefaultClient.CloseIdleConnections()
		p.signal(t, s)
		if code := p.wait(t); code != exitOK {
			t.Errorf("%s: exit code %d", s, code)
		}
		if log := p.text(); !strings.Contains(log, "stopped by a signal: "+s.String()) || strings.Contains(log, "[ERROR]") {
			t.Errorf("%s: the log lacks the stop, or has an error", s)
		}
	}
	if info, err := os.Stat(data); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data folder: %v, %v", info, err)
	}
}

// A stream is told of the stop before it ends.
func TestStopTellsStreams(t *testing.T) {
	p := spawn(t, dev(t)...)
	p.ready(t)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	bidi := tidemarkv1connect.NewOffsetServiceClient(&http.Client{Transport: transport}, "http://"+p.api).Stream(ctx)
	fetch := &tidemarkv1.FetchRequest{Keys: []*tidemarkv1.Key{{Group: "g", Topic: "t"}}}
	if err := bidi.Send(&tidemarkv1.StreamRequest{Calls: []*tidemarkv1.Call{{Id: 1, Call: &tidemarkv1.Call_Fetch{Fetch: fetch}}}}); err != nil {
		t.Fatal(err)
	}
	told, answered := false, false
	for {
		m, err := bidi.Receive()
		if err != nil {
			break
		}
		if told = told || m.Closing; len(m.Replies) > 0 {
			answered = true
			p.signal(t, syscall.SIGTERM)
		}
	}
	_ = bidi.CloseRequest()
	_ = bidi.CloseResponse()
	if !told || !answered {
		t.Errorf("answered: %v, told of the stop: %v", answered, told)
	}
	if code := p.wait(t); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// Without --data --dev keeps what was written, whatever ends it, below the
// user's home, says where, and leaves nothing elsewhere.
func TestDevKeepsItsState(t *testing.T) {
	home, tmp := filepath.Join(t.TempDir(), "not", "made"), t.TempDir()
	addrs := []string{freePort(t), freePort(t)} // another raft port each time, held outside of tmp
	t.Setenv("XDG_STATE_HOME", home)
	t.Setenv("TMPDIR", tmp)
	args := []string{"--dev", "--listen", "127.0.0.1:0", "--peer-listen"}
	var cluster any
	for i, said := range []string{"is kept in this folder", "continuing with what this folder holds"} {
		p := spawn(t, append(args, addrs[i])...)
		p.ready(t)
		if text := p.text(); !strings.Contains(text, said) || !strings.Contains(text, "data="+filepath.Join(home, "tidemark-dev")) {
			t.Errorf("start %d: the log does not say %q of the folder", i+1, said)
		}
		now := ask(t, p, "ClusterService/Status", `{}`)["meta"].(map[string]any)["clusterId"]
		if i > 0 && now != cluster {
			t.Errorf("it is cluster %v now, and was %v", now, cluster)
		}
		cluster = now
		p.signal(t, syscall.SIGKILL)
		p.wait(t)
	}
	if left, _ := os.ReadDir(tmp); len(left) != 0 {
		t.Errorf("it left %v", left)
	}
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder above: %v, %v", info, err)
	}
}

// Where no home is known, --dev asks for a folder instead of choosing one.
func TestDevWithoutHome(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	r := try(t, nil, "--dev", "--listen", "127.0.0.1:0", "--peer-listen", "127.0.0.1:0")
	if r.code != exitWrong || !strings.Contains(r.errs, "--data is missing") {
		t.Errorf("exit code %d, %s", r.code, r.errs)
	}
}

func TestPagesOfTheDaemon(t *testing.T) {
	p := spawn(t, dev(t, "--ops-listen", "127.0.0.1:0", "--pprof")...)
	p.ready(t)
	status := func(addr, path string) int {
		code, _, err := get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	for _, c := range []struct {
		path     string
		api, ops int
	}{
		{"/", 200, 200}, {"/livez", 200, 200}, {"/readyz", 200, 200}, {"/metrics", 404, 200}, {"/debug/pprof/", 404, 200},
		{"/debug/pprof/goroutine", 404, 200}, {"/tidemark.v1.ClusterService/Status", 400, 404},
	} {
		if got := status(p.api, c.path); got != c.api {
			t.Errorf("%s where clients connect: %d, want %d", c.path, got, c.api)
		}
		if got := status(p.ops, c.path); got != c.ops {
			t.Errorf("%s for operators: %d, want %d", c.path, got, c.ops)
		}
	}
	if _, _, err := post("http://"+p.api+"/tidemark.v1.ClusterService/Status", `{}`); err != nil {
		t.Fatal(err)
	}
	_, text, err := get("http://" + p.ops + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"tidemark_leader 1\n", "tidemark_ready 1\n", `tidemark_api_calls_total{code="ok",method="status"} 1`,
		"raft_", "go_goroutines", "process_open_fds", "tidemark_build_info{",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
}

// A second daemon on the same folder ends, says why, and does no harm.
func TestFolderInUse(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	first := spawn(t, dev(t, "--data", data)...)
	first.ready(t)
	second := spawn(t, dev(t, "--data", data, "--log-format", "json")...)
	if code := second.wait(t); code != node.ExitLocked || !strings.Contains(second.text(), data) {
		t.Errorf("exit code %d, %s", code, second.text())
	}
	for line := range strings.Lines(second.text()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the JSON log is %q", line)
		}
	}
	if code, _, err := get("http://" + first.api + "/readyz"); err != nil || code != http.StatusOK {
		t.Errorf("the first one: %d, %v", code, err)
	}
	first.signal(t, syscall.SIGTERM)
	if code := first.wait(t); code != exitOK {
		t.Errorf("the first one ended with %d", code)
	}
}

// A signal while the cluster is not formed stops as well.
func TestStopBeforeThereIsACluster(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	own, other := freePort(t), freePort(t)
	p := spawn(t, "--name", "n1", "--data", data, "--listen", "127.0.0.1:0", "--peer-listen", own,
		"--initial-cluster", "n1="+own+",n2="+other)
	await(t, "the page", func() bool {
		m := listening.FindStringSubmatch(p.text())
		if m == nil {
			return false
		}
		code, body, err := get("http://" + m[1] + "/readyz")
		return err == nil && code == http.StatusServiceUnavailable && body != ""
	})
	start := time.Now()
	p.signal(t, syscall.SIGTERM)
	if code := p.wait(t); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the stop took %s", took)
	}
}

// A call that does not end does not hold the stop for ever; a second signal
// ends the process at once.
func TestSecondSignal(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	own, other := freePort(t), freePort(t)
	p := spawn(t, "--name", "n1", "--data", data, "--listen", "127.0.0.1:0", "--peer-listen", own,
		"--initial-cluster", "n1="+own+",n2="+other, "--call-timeout", "1m", "--stop-timeout", "1m")
	await(t, "the address", func() bool { return listening.MatchString(p.text()) })
	addr := listening.FindStringSubmatch(p.text())[1]
	// A body that never comes holds the connection while the server waits for it.
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /tidemark.v1.ClusterService/Status HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	await(t, "the request", func() bool {
		_, body, err := get("http://" + addr + "/metrics")
		return err == nil && strings.Contains(body, "tidemark_api_connections 2")
	})
	p.signal(t, syscall.SIGTERM)
	await(t, "the stop to begin", func() bool { return strings.Contains(p.text(), "stopping") })
	p.signal(t, syscall.SIGTERM)
	if code := p.wait(t); code != 1 || !strings.Contains(p.text(), "further signal") {
		t.Errorf("exit code %d", code)
	}
}
