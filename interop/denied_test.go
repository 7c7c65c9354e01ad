package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// TestBrokersWithoutRights: a broker whose token may do nothing, or only read, or
// only commit, does not start, since it could not claim its name. One that loses
// its rights while it runs acknowledges nothing and does no act; once it has them
// again, what waited is sent. Each refusal changes nothing and is in the audit log,
// with the name of the broker's token.
func TestBrokersWithoutRights(t *testing.T) {
	apart(t)
	stand.Jar(t)
	g := guard(t, "b-nothing", "b-read", "b-commit", "b-admin")
	for _, name := range []string{"b-nothing", "b-read", "b-commit"} {
		g.permit("b-read: read", "b-commit: commit")
		before := g.state()
		wantRefused(t, g.NewBroker(g.as(name)), "the policy does not give")
		g.unchanged("a start with the token of "+name, before)
		g.audited(name)
	}

	g.permit("b-admin: admin")
	b := g.Broker(g.as("b-admin"))
	b.CreateTopic("load", 1)
	b.CreateGroup("g")
	b.CreateGroup("h")
	fill(b, 1, 30)
	w := dial(t, b, remoting.JSON)
	if code := w.commit("g", "load", 0, 5); code != answerOK {
		t.Fatalf("with all rights a commit was answered by code %d", code)
	}
	g.permit("b-admin: read")
	before := g.state()
	if code := w.commit("g", "load", 0, 9); code != 2 {
		t.Errorf("without the right to commit, a commit was answered by code %d, want 2", code)
	}
	g.noActs(w)
	g.unchanged("what a broker did that may read", before)
	g.audited("b-admin")

	g.permit("b-admin: commit")
	if got := g.until(9); got != 9 {
		t.Errorf("with the right to commit back, the cluster has %d", got)
	}
	before = g.state()
	g.noActs(w)
	g.unchanged("acts of a broker that may commit", before)
	g.permit("b-admin: admin")
	if f := w.ask(314, map[string]string{"srcGroup": "g", "destGroup": "h", "topic": "load", "offline": "true"}, nil); f.Code != answerOK {
		t.Errorf("with all rights back, the copy was answered by code %d %q", f.Code, f.Remark)
	}
}

// guarded is a stand whose cluster asks for tokens.
type guarded struct {
	*stand.Stand
	t       *testing.T
	secrets string
	ops     *client.Client
}

// guard makes one, with a token for each of these names.
func guard(t *testing.T, names ...string) *guarded {
	t.Helper()
	s := &stand.Stand{TB: t, Where: stand.Tidemark, Version: javaparts.RocketMQ5, Cluster: local.Start(t, 3, local.Env("CLUSTER_TLS", "1"))}
	s.Names = javaparts.StartNameServer(t, s.Version)
	g := &guarded{Stand: s, t: t, secrets: filepath.Join(s.Cluster.Run, "secrets")}
	lines := g.read("tokens")
	for _, name := range names {
		token := auth.NewToken()
		line, err := auth.TokenLine(name, token)
		if err != nil {
			t.Fatal(err)
		}
		lines += line + "\n"
		g.put(name+".token", token)
	}
	g.put("tokens", lines)
	var err error
	g.ops, err = client.New(s.Cluster.Endpoints(), client.WithTLSFiles(client.TLSFiles{CA: filepath.Join(g.secrets, "ca.crt")}),
		client.WithTokenFile(filepath.Join(g.secrets, "ops.token")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.ops.Close() })
	g.taken("tokens", 1)
	return g
}

func (g *guarded) read(name string) string {
	g.t.Helper()
	b, err := os.ReadFile(filepath.Join(g.secrets, name))
	if err != nil {
		g.t.Fatal(err)
	}
	return string(b)
}

// put replaces a file by a rename.
func (g *guarded) put(name, text string) {
	g.t.Helper()
	path := filepath.Join(g.secrets, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		g.t.Fatal(err)
	}
}

// taken waits until each node has taken a file so many times.
func (g *guarded) taken(name string, times int) {
	g.t.Helper()
	line := fmt.Sprintf("a changed file is in use: files=[%q]", filepath.Join(g.secrets, name))
	for _, n := range g.Cluster.Names() {
		ask.Until(g.t, n+" takes "+name, func() bool { return strings.Count(g.Cluster.Log(n), line) >= times })
	}
}

// permit gives callers ("NAME: RIGHT") rights on what the broker "barred" has, and
// takes all others but those of the operator.
func (g *guarded) permit(rights ...string) {
	g.t.Helper()
	rules := "rules:\n  - {callers: [ops], may: [admin]}\n"
	for _, r := range rights {
		caller, may, _ := strings.Cut(r, ": ")
		rules += fmt.Sprintf("  - {callers: [%s], may: [%s], brokers: [barred]}\n", caller, may)
	}
	if rules == g.read("policy.yaml") {
		return
	}
	line := fmt.Sprintf("a changed file is in use: files=[%q]", filepath.Join(g.secrets, "policy.yaml"))
	before := strings.Count(g.Cluster.Log("n1"), line)
	g.put("policy.yaml", rules)
	g.taken("policy.yaml", before+1)
}

// as is the configuration of the broker with somebody's token.
func (g *guarded) as(name string) map[string]string {
	return map[string]string{
		"brokerName": "barred", "tidemarkToken": g.read(name + ".token"),
		"tidemarkTlsCa": filepath.ToSlash(filepath.Join(g.secrets, "ca.crt")),
	}
}

// state is digest and index of all nodes once they agree.
func (g *guarded) state() (got string) {
	g.t.Helper()
	ask.Until(g.t, "all nodes have one state", func() bool {
		seen := map[string]bool{}
		for _, addr := range g.Cluster.Endpoints() {
			st, err := g.ops.Status(ask.Within(g.t, 5*time.Second), addr)
			if err != nil {
				return false
			}
			got = fmt.Sprintf("digest %s at %d", st.Digest, st.DigestIndex)
			seen[got] = true
		}
		return len(seen) == 1
	})
	return got
}

func (g *guarded) unchanged(what, before string) {
	g.t.Helper()
	if after := g.state(); after != before {
		g.t.Errorf("%s changed the state from %s to %s", what, before, after)
	}
}

// noActs tries what a tool asks a broker for: each is refused with a reason.
func (g *guarded) noActs(w wire) {
	g.t.Helper()
	for what, act := range map[string]struct {
		code int
		ext  map[string]string
	}{
		"a reset":            {codeReset, map[string]string{"topic": "load", "group": "g", "timestamp": "-1", "isForce": "true", "queueId": "-1", "offset": "-1"}},
		"a copy":             {314, map[string]string{"srcGroup": "g", "destGroup": "h", "topic": "load", "offline": "true"}},
		"removing the group": {codeDeleteGroup, map[string]string{"groupName": "g", "cleanOffset": "true"}},
	} {
		if f := w.ask(act.code, act.ext, nil); f.Code != answerError || !strings.Contains(f.Remark, "the policy does not give") {
			g.t.Errorf("%s was answered by code %d %q, want 1 and that it is denied", what, f.Code, f.Remark)
		}
	}
}

// audited waits until a node's audit log has a refusal of somebody.
func (g *guarded) audited(name string) {
	g.t.Helper()
	ask.Until(g.t, "a refusal of "+name+" is noted", func() bool {
		for _, n := range g.Cluster.Names() {
			b, err := os.ReadFile(filepath.Join(g.Cluster.Run, n, "data", "audit.log"))
			if err != nil {
				g.t.Fatal(err)
			}
			for line := range strings.Lines(string(b)) {
				if strings.Contains(line, `"what":"denied"`) && strings.Contains(line, name) {
					return true
				}
			}
		}
		return false
	})
}

// until waits for the offset of the one queue in the cluster.
func (g *guarded) until(want int64) (got int64) {
	g.t.Helper()
	ask.Until(g.t, "what waited is in the cluster", func() bool {
		r := g.Cluster.TidemarkAt(ask.Within(g.t, ask.Patience), strings.Join(g.Cluster.Endpoints(), ","), "--ca", filepath.Join(g.secrets, "ca.crt"),
			"--token-file", filepath.Join(g.secrets, "ops.token"), "get", "g", "load", "0", "-o", "json")
		if strings.Contains(r.Out, fmt.Sprintf(`"%d"`, want)) {
			got = want
		}
		return got == want
	})
	return got
}
