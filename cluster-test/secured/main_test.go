package secured

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

func TestMain(m *testing.M) { local.Main(m) }

// secured is a cluster of three processes with TLS, tokens and a policy.
type secured struct {
	*local.Cluster
	t *testing.T
	// dir holds what cluster.sh has made: ca.crt, n1.crt, ops.token and so on.
	dir string
}

// start makes a cluster whose callers have these rights; "ops" has all.
func start(t *testing.T, policy string, callers ...string) *secured {
	t.Helper()
	s := &secured{t: t, Cluster: local.Start(t, 3, local.Env("CLUSTER_TLS", "1"),
		local.Env("TIDEMARK_TIMERS", "slow-disk"))} // terms are compared, which a busy machine must not move
	s.dir = filepath.Join(s.Run, "secrets")
	tokens := s.read("tokens")
	for _, name := range callers {
		token := auth.NewToken()
		line, err := auth.TokenLine(name, token)
		if err != nil {
			t.Fatal(err)
		}
		s.write(name+".token", token+"\n")
		tokens += line + "\n"
	}
	s.write("tokens", tokens)
	if policy != "" {
		s.write("policy.yaml", s.read("policy.yaml")+policy)
	}
	s.settled(len(callers) > 0, "tokens")
	s.settled(policy != "", "policy.yaml")
	return s
}

// settled waits until every node has taken a changed file.
func (s *secured) settled(changed bool, file string) {
	s.t.Helper()
	if !changed {
		return
	}
	for _, n := range s.Names() {
		ask.Until(s.t, n+" takes "+file, func() bool {
			return strings.Contains(s.Log(n), fmt.Sprintf("a changed file is in use: files=[%q]", filepath.Join(s.dir, file)))
		})
	}
}

func (s *secured) path(name string) string { return filepath.Join(s.dir, name) }

func (s *secured) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// write replaces a file by a rename.
func (s *secured) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name)+".new", []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(s.path(name)+".new", s.path(name)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *secured) token(name string) string { return strings.TrimSpace(s.read(name + ".token")) }

// client is a client of all nodes as somebody with a token.
func (s *secured) client(name string, more ...client.Option) *client.Client {
	s.t.Helper()
	options := []client.Option{client.WithTLSFiles(client.TLSFiles{CA: s.path("ca.crt")})}
	if name != "" {
		options = append(options, client.WithTokenFile(s.path(name+".token")))
	}
	c, err := client.New(s.Endpoints(), append(options, more...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// tidemark runs the CLI as somebody.
func (s *secured) tidemark(name string, args ...string) (code int, out string) {
	s.t.Helper()
	args = append([]string{"--endpoints", strings.Join(s.Endpoints(), ","), "--timeout", "20s", "--ca", s.path("ca.crt")}, args...)
	if name != "" {
		args = append(args, "--token-file", s.path(name+".token"))
	}
	cmd := exec.Command(filepath.Join(s.Bin, "tidemark"), args...)
	cmd.Env = []string{"HOME=" + s.t.TempDir()}
	b, _ := cmd.CombinedOutput() // its code tells
	return cmd.ProcessState.ExitCode(), string(b)
}

// tls trusts the cluster's CA.
func (s *secured) tls(more ...func(*tls.Config)) *tls.Config {
	s.t.Helper()
	c := &tls.Config{RootCAs: pool(s.t, s.read("ca.crt"))}
	for _, f := range more {
		f(c)
	}
	return c
}

// states gives index and digest of each node once all have the same.
func (s *secured) states(c *client.Client) string {
	s.t.Helper()
	return s.statesOf(c, s.Endpoints()...)
}

// statesOf does so for some nodes.
func (s *secured) statesOf(c *client.Client, addrs ...string) string {
	s.t.Helper()
	var got string
	ask.Until(s.t, "the nodes have one state", func() bool {
		var list []string
		for _, addr := range addrs {
			st, err := c.Status(ask.Within(s.t, 5*time.Second), addr)
			if err != nil {
				return false
			}
			list = append(list, fmt.Sprintf("term %d, digest %s at %d", st.Term, st.Digest, st.DigestIndex))
		}
		got = list[0]
		return len(slices.Compact(list)) == 1
	})
	return got
}

// denials reads the audit logs: how many requests were refused.
func (s *secured) denials() (lines []map[string]any, total int) {
	s.t.Helper()
	for _, n := range s.Names() {
		b, err := os.ReadFile(filepath.Join(s.Run, n, "data", "audit.log"))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, line := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
			var l map[string]any
			if err := json.Unmarshal(line, &l); err != nil {
				s.t.Fatalf("%s: %v: %s", n, err, line)
			}
			if l["what"] != "denied" {
				continue
			}
			lines = append(lines, l)
			more := 0
			if _, err := fmt.Sscanf(fmt.Sprint(l["detail"]), "refusals_without_a_line=%d,", &more); err != nil {
				more = 1
			}
			total += more
		}
	}
	return lines, total
}

// commit reads a key and commits.
func commit(ctx context.Context, c *client.Client, k offset.Key, n int64) error {
	states, meta, err := c.Fetch(ctx, offset.ReadAt{}, k)
	if err != nil {
		return err
	}
	verdicts, _, err := c.Commit(ctx, meta.Cluster, []offset.Commit{{Key: k, Offset: n, Epoch: states[0].Epoch}})
	if err == nil && verdicts[0].Code != offset.CodeOK {
		err = verdicts[0].Code.Err()
	}
	return err
}
