package secured

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/offset"
)

func readAll(t testing.TB, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSecretsStaySecret (C44: hashicorp/consul#3664): what a token and a key are
// is in no log, page, status, snapshot, export or audit log, and in no file that
// a node has made; all of these are 0600 below 0700.
func TestSecretsStaySecret(t *testing.T) {
	s := start(t, "")
	ops := s.client("ops")
	ctx := ask.Within(t, ask.Patience)
	if err := commit(ctx, ops, offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}}, 5); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := ops.Snapshot(ctx, s.API("n1")); err != nil {
		t.Fatal(err)
	}
	secrets := []string{s.token("ops"), "planted-and-wrong-token"}
	for _, n := range s.Names() {
		lines := strings.Split(s.read(n+".key"), "\n")
		secrets = append(secrets, lines[1]) // of its PEM
	}
	var shown []string
	for _, n := range s.Names() {
		for _, page := range []string{"/", "/metrics", "/readyz", "/nothing"} {
			shown = append(shown, s.page(n, page))
		}
		_, status := sendJSON(s, s.API(n), s.token("ops"), rpcs[0])
		_, refusal := sendJSON(s, s.API(n), "planted-and-wrong-token", rpcs[0])
		shown = append(shown, status, refusal, s.Log(n))
	}
	file := filepath.Join(t.TempDir(), "export")
	for _, args := range [][]string{{"cluster", "status", "-o", "json"}, {"check", "health"}, {"export", file, "--format", "native"}} {
		_, out := s.tidemark("ops", args...)
		shown = append(shown, out)
	}
	shown = append(shown, s.printedConfig(ctx))
	for _, text := range shown {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("a secret is shown: %s", text)
			}
		}
	}
	s.Sh("down")
	files := append(s.made("n1"), append(s.made("n2"), s.made("n3")...)...)
	for _, path := range append(files, file) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s holds a secret", path)
			}
		}
	}
	t.Logf("%d files and %d texts looked through", len(files)+1, len(shown))
}

// printedConfig is what --print-config shows of a node with everything set.
func (s *secured) printedConfig(ctx context.Context) string {
	s.t.Helper()
	cmd := s.Shell(filepath.Join(s.Bin, "tidemarkd") + " --dev --print-config --tls-cert " + s.path("n1.crt") + " --tls-key " + s.path("n1.key") +
		" --tokens " + s.path("tokens") + " --policy " + s.path("policy.yaml") + " --data " + s.t.TempDir())
	out, err := cmd.Output()
	if err != nil || ctx.Err() != nil || !strings.Contains(string(out), s.path("tokens")) {
		s.t.Fatalf("--print-config: %v, %s", err, out)
	}
	return string(out)
}

// made are the files in a node's data folder.
func (s *secured) made(n string) (files []string) {
	s.t.Helper()
	err := filepath.WalkDir(filepath.Join(s.Run, n, "data"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		} else {
			files = append(files, path)
		}
		if err == nil && info.Mode().Perm() != want {
			s.t.Errorf("%s is %v, want %v", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil || len(files) < 3 {
		s.t.Fatal(errors.Join(err, errors.New("too few files")))
	}
	return files
}
