package processes

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// hosts are the machines of the pages in docs, n1.example and so on: addresses
// of this one, and a folder of the test for each, which has the machine's files.
type hosts struct {
	*local.Cluster
	t    *testing.T
	data string
	// running are the daemons by name; args what each is started with.
	running map[string]*local.Daemon
	args    map[string][]string
	// env is that of the one shell in which lines are run.
	env []string
}

func newHosts(t *testing.T, options ...local.Option) *hosts {
	c := local.New(t, 3, options...)
	return &hosts{
		Cluster: c, t: t, data: t.TempDir(), running: map[string]*local.Daemon{}, args: map[string][]string{},
		env: append(os.Environ(), "PATH="+c.Bin+":"+os.Getenv("PATH")),
	}
}

// at is an address of a machine: not that of --dev, which is 127.0.0.1.
func at(addr string) string { return strings.Replace(addr, "127.0.0.1", "127.0.0.2", 1) }

// folder is a machine's own, tidemark the data folder in it.
func (h *hosts) folder(name string) string { return filepath.Join(h.data, name) }

func (h *hosts) tidemark(name string) string { return filepath.Join(h.folder(name), "tidemark") }

// options are those of a member that is started with a network.
func (h *hosts) options(name, ports string) []string {
	return []string{"--name", name, "--data", h.tidemark(name), "--listen", at(h.API(ports)), "--peer-listen", at(h.Peer(ports))}
}

func (h *hosts) start(name string) {
	h.t.Helper()
	if err := os.MkdirAll(h.folder(name), 0o700); err != nil {
		h.t.Fatal(err)
	}
	h.running[name] = h.Daemon(h.args[name]...)
}

// found founds a cluster of three and waits until it serves.
func (h *hosts) found() {
	h.t.Helper()
	var founders []string
	for _, n := range h.Names() {
		founders = append(founders, n+"="+at(h.Peer(n)))
	}
	for _, n := range h.Names() {
		h.args[n] = append(h.options(n, n), "--initial-cluster", strings.Join(founders, ","))
		h.start(n)
	}
	ask.Same(h.t, h.nodes())
}

// nodes are the three machines' own, as they are asked.
func (h *hosts) nodes() (list []*ask.Node) {
	for _, n := range h.Names() {
		list = append(list, ask.New(n, at(h.API(n)), nil))
	}
	return list
}

// endpoints are those of the three machines.
func (h *hosts) endpoints() (list []string) {
	for _, n := range h.Names() {
		list = append(list, at(h.API(n)))
	}
	return list
}

func (h *hosts) dial() *client.Client { return h.dialTo(h.endpoints()) }

func (h *hosts) dialTo(endpoints []string) *client.Client {
	h.t.Helper()
	cl, err := client.New(endpoints)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = cl.Close() })
	return cl
}

// lose kills a machine, with all its files.
func (h *hosts) lose(name string) {
	h.t.Helper()
	h.running[name].Kill()
	if err := os.RemoveAll(h.folder(name)); err != nil {
		h.t.Fatal(err)
	}
}

// pageLines are the lines of code between two texts of docs/operations.md.
func pageLines(t *testing.T, from, to string) (list []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(local.Root(), "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), from)
	if !ok {
		t.Fatalf("docs/operations.md has no %q", from)
	}
	section, _, _ = strings.Cut(section, to)
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
	if len(list) == 0 {
		t.Fatalf("docs/operations.md has no code behind %q", from)
	}
	return list
}

var (
	daemonName = regexp.MustCompile(`--name (\S+)`)
	memberID   = regexp.MustCompile(`tidemark cluster add (\S+/[0-9a-f]{32}) `)
)

// here has the machines of the test stand in for those of the page.
func (h *hosts) here(name, line string) string {
	for _, n := range h.Names() {
		line = strings.ReplaceAll(line, n+".example:7411", at(h.API(n)))
		line = strings.ReplaceAll(line, n+".example:7412", at(h.Peer(n)))
	}
	return strings.ReplaceAll(line, "/var/lib/tidemark", h.tidemark(name))
}

// follow runs a line of the page as on the machine of that name: a daemon in the
// background, listening on its machine's addresses alone, all else in the shell.
// It returns what the line printed.
func (h *hosts) follow(name, line string) string {
	h.t.Helper()
	if m := daemonName.FindStringSubmatch(line); m != nil && strings.HasPrefix(line, "tidemarkd ") {
		ports := strings.Replace(m[1], "dev", "n1", 1)
		h.args[m[1]] = append(strings.Fields(h.here(m[1], line))[1:], "--listen", at(h.API(ports)), "--peer-listen", at(h.Peer(ports)))
		h.start(m[1])
		return ""
	}
	line = h.here(name, line)
	for n, d := range h.running {
		if strings.Contains(line, n+"/ID") {
			ask.Until(h.t, n+" says how it is added", func() bool { return memberID.MatchString(d.Log()) })
			line = strings.Replace(line, n+"/ID", memberID.FindStringSubmatch(d.Log())[1], 1)
		}
	}
	if set, ok := strings.CutPrefix(line, "export "); ok {
		h.env = append(h.env, set)
		return ""
	}
	h.t.Logf("$ %s", line)
	out, err := h.shell(name, line)
	if err != nil && waits(line) {
		ask.Until(h.t, line, func() bool { out, err = h.shell(name, line); return err == nil })
	}
	if err != nil {
		h.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// waits tells the lines of which the page says that they may have to wait: until
// a member has caught up, and until all have said where clients reach them.
func waits(line string) bool {
	return strings.HasSuffix(line, " cluster status") || strings.Contains(line, " cluster promote ")
}

func (h *hosts) shell(name, line string) (out []byte, err error) {
	cmd := exec.Command("bash", "-c", line)
	cmd.Env, cmd.Dir = h.env, h.folder(name)
	return cmd.CombinedOutput()
}
