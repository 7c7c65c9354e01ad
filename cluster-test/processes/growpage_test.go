package processes

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// pageLines are the lines of the page's section on growing, in their order.
func pageLines(t *testing.T) (list []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(local.Root(), "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "\n## Grow from --dev to three nodes\n")
	if !ok {
		t.Fatal("docs/operations.md has no section on growing")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	code := false
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code:
			list = append(list, line)
		}
	}
	return list
}

var (
	daemonName = regexp.MustCompile(`--name (\S+)`)
	memberID   = regexp.MustCompile(`tidemark cluster add (\S+/[0-9a-f]{32}) `)
)

// machines has three machines stand in for those of the page: addresses of this
// one, folders of the test.
func (g *growing) machines(name, line string) string {
	folder := filepath.Join(g.data, name)
	for page, here := range map[string]string{
		"n1.example:7411": at(g.API("n1")), "n1.example:7412": at(g.Peer("n1")),
		"n2.example:7411": at(g.API("n2")), "n2.example:7412": at(g.Peer("n2")),
		"n3.example:7411": at(g.API("n3")), "n3.example:7412": at(g.Peer("n3")),
		"~/.local/state/tidemark-dev": filepath.Join(g.home, "tidemark-dev"), "/var/lib/tidemark": folder,
	} {
		line = strings.ReplaceAll(line, page, here)
	}
	return line
}

// run runs a line of the page: a daemon in the background, listening on its
// machine's addresses alone, all else in the one shell that env carries on.
func (g *growing) run(line string, env []string) []string {
	g.t.Helper()
	if m := daemonName.FindStringSubmatch(line); m != nil && strings.HasPrefix(line, "tidemarkd ") {
		name := m[1]
		args := strings.Fields(g.machines(name, line))[1:]
		ports := strings.Replace(name, "dev", "n1", 1)
		g.args[name] = append(args, "--listen", at(g.API(ports)), "--peer-listen", at(g.Peer(ports)))
		g.start(name)
		return env
	}
	line = g.machines("dev", line)
	for name, d := range g.running {
		if strings.Contains(line, name+"/ID") {
			ask.Until(g.t, name+" says how it is added", func() bool { return memberID.MatchString(d.Log()) })
			line = strings.Replace(line, name+"/ID", memberID.FindStringSubmatch(d.Log())[1], 1)
		}
	}
	if set, ok := strings.CutPrefix(line, "export "); ok {
		return append(env, set)
	}
	g.t.Logf("$ %s", line)
	if strings.HasSuffix(line, " cluster status") { // the page says that it is 0 after a second
		ask.Until(g.t, line, func() bool { _, err := shell(line, env); return err == nil })
	} else if out, err := shell(line, env); err != nil {
		g.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return env
}

func shell(line string, env []string) (out []byte, err error) {
	cmd := exec.Command("bash", "-c", line)
	cmd.Env = env
	return cmd.CombinedOutput()
}

// TestThePageOnGrowing: who follows docs/operations.md line by line has three
// nodes in the end, with everything that was acknowledged.
func TestThePageOnGrowing(t *testing.T) {
	g := grow(t)
	g.start("dev")
	l := load.Start(t, g.dial, load.Shape{Consumers: 3, Pace: 5 * time.Millisecond})
	l.More(3)
	env := append(os.Environ(), "PATH="+g.Bin+":"+os.Getenv("PATH"))
	for _, line := range pageLines(t) {
		if strings.HasPrefix(line, "mv ") { // the page has the node stopped before
			if code := g.running["dev"].Stop(t); code != 0 {
				t.Errorf("the node of --dev ends with %d", code)
			}
		}
		env = g.run(line, env)
	}
	if log := g.running["dev"].Log(); !strings.Contains(log, "address has changed in the cluster") {
		t.Error("the log does not say that the address has changed, as the page promises")
	}
	l.More(3)
	g.running["dev"].Kill()
	l.More(3)
	g.start("dev")
	var nodes []*ask.Node
	for _, n := range []string{"n1", "n2", "n3"} {
		nodes = append(nodes, ask.New(n, at(g.API(n)), nil))
	}
	l.Check(nodes)
}
