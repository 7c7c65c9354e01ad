package main

import (
	"flag"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
)

var update = flag.Bool("update", false, "write docs/metrics.md and docs/configuration.md anew")

// same compares a page with what the code gives, or writes it.
func same(t *testing.T, page, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the code gives (%v); run: go test ./cmd/node -update", page, err)
	}
}

// idle is a member that does not run; its metrics have their names already.
func idle(t *testing.T) *node.Node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.New(node.Config{Name: "n1", Dir: t.TempDir(), PeerListener: l, AdvertiseAPI: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func TestMetricsPage(t *testing.T) {
	same(t, "../../docs/metrics.md", metricsPage(append(idle(t).Metrics(), (&secrets{}).metrics()...)))
}

func TestConfigurationPage(t *testing.T) {
	setEnv(t, nil)
	p, err := parse(nil, os.Stdout, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "../../docs/configuration.md", configurationPage(p.flags))
}

// The codes of the disk's causes on the page are those of package store.
func TestExitCodesOfTheDisk(t *testing.T) {
	for cause, text := range map[store.Cause]string{
		store.CauseIO: "gave an error", store.CauseDiskFull: "is full", store.CauseHang: "hung", store.CauseConflict: "contradicted",
	} {
		found := false
		for _, c := range exitCodes {
			found = found || c.code == cause.ExitCode() && strings.Contains(c.meaning, text)
		}
		if !found {
			t.Errorf("%s has the exit code %d, which the table does not have so", cause, cause.ExitCode())
		}
	}
}
