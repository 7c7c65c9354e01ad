package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// three starts a cluster of three daemons and waits until all serve.
func three(t *testing.T) []*process {
	t.Helper()
	dir := t.TempDir()
	var founders, peers []string
	for i := range 3 {
		peers = append(peers, freePort(t))
		founders = append(founders, fmt.Sprintf("n%d=%s", i+1, peers[i]))
	}
	var nodes []*process
	for i := range 3 {
		name := fmt.Sprintf("n%d", i+1)
		nodes = append(nodes, spawn(t, "--name", name, "--data", filepath.Join(dir, name), "--listen", "127.0.0.1:0",
			"--peer-listen", peers[i], "--initial-cluster", strings.Join(founders, ","), "--timers", "slow-disk"))
	}
	for _, p := range nodes {
		p.ready(t)
	}
	return nodes
}

// ask posts JSON to an RPC of a node and gives the decoded answer of a 200.
func ask(t *testing.T, p *process, rpc, body string) map[string]any {
	t.Helper()
	status, text, err := post("http://"+p.api+"/tidemark.v1."+rpc, body)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s on %s: %d %s, %v", rpc, p.api, status, text, err)
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// JSON alone commits, fetches and lists on any node, whichever leads; when the
// leader is stopped it hands over, ends with 0, and the others go on with all
// that was acknowledged.
func TestThreeNodes(t *testing.T) {
	const largest = "9223372036854775807"
	nodes := three(t)
	cluster := ask(t, nodes[0], "ClusterService/Status", `{}`)["meta"].(map[string]any)["clusterId"].(string)
	check := func(p *process, groups int) {
		t.Helper()
		for i := range groups {
			answer := ask(t, p, "OffsetService/Fetch", fmt.Sprintf(`{"keys": [{"group": "g%d", "topic": "t"}]}`, i))
			state := answer["states"].([]any)[0].(map[string]any)
			if got := state["position"].(map[string]any)["offset"]; got != largest {
				t.Errorf("%s has %v for group %d", p.api, got, i)
			}
		}
		if names := ask(t, p, "GroupService/List", `{}`)["names"].([]any); len(names) != groups {
			t.Errorf("%s lists %v, want %d groups", p.api, names, groups)
		}
	}
	for i, p := range nodes {
		answer := ask(t, p, "OffsetService/Commit", fmt.Sprintf(
			`{"clusterId": %q, "commits": [{"group": "g%d", "topic": "t", "queueIds": [0], "offsets": [%s], "epochs": [0]}]}`, cluster, i, largest))
		if got := answer["offsets"].([]any)[0]; got != largest {
			t.Errorf("a commit on %s gave %v", p.api, got)
		}
		for _, other := range nodes {
			check(other, i+1)
		}
	}
	var leader *process
	await(t, "a leader", func() bool {
		for _, p := range nodes {
			if ask(t, p, "ClusterService/Status", `{}`)["state"] == "leader" {
				leader = p
			}
		}
		return leader != nil
	})
	leader.signal(t, syscall.SIGTERM)
	if code := leader.wait(t); code != exitOK {
		t.Errorf("the leader ended with %d", code)
	}
	for _, p := range nodes {
		if p != leader {
			p.ready(t)
			check(p, 3)
		}
	}
}
