package secured

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/offset"
)

// load is callers that never stop: clients that keep their connections, and
// one that makes a new one for each request, and sends nothing again.
type load struct {
	s      *secured
	ctx    context.Context
	group  sync.WaitGroup
	done   atomic.Int64
	failed atomic.Int64
}

func (s *secured) load() (l *load, stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	l = &load{s: s, ctx: ctx}
	files := client.TLSFiles{CA: s.path("ca.crt"), Cert: s.path("app.crt"), Key: s.path("app.key")}
	for i := range 4 {
		c := s.client("", client.WithTLSFiles(files))
		k := offset.Key{Group: fmt.Sprint("g", i), MessageQueue: offset.MessageQueue{Topic: "t"}}
		l.group.Go(func() {
			l.forever(func(ctx context.Context, n int64) error { return commit(ctx, c, k, n) })
		})
	}
	l.group.Go(func() { l.forever(func(ctx context.Context, n int64) error { return l.anew(ctx, int(n)) }) })
	stop = sync.OnceFunc(func() { cancel(); l.group.Wait() })
	s.t.Cleanup(stop)
	return l, stop
}

// forever calls with deadlines of their own, so that a stop fails none.
func (l *load) forever(call func(ctx context.Context, n int64) error) {
	for n := int64(1); l.ctx.Err() == nil; n++ {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), ask.Patience)
		err := call(ctx, n)
		cancel()
		if err != nil {
			l.failed.Add(1)
			l.s.t.Errorf("a request failed: %v", err)
			return
		}
		l.done.Add(1)
	}
}

// anew asks one node over a connection of its own, with the files as they are.
func (l *load) anew(ctx context.Context, n int) error {
	ca, err := os.ReadFile(l.s.path("ca.crt"))
	if err != nil {
		return err
	}
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool(l.s.t, string(ca))}, DisableKeepAlives: true}}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+l.s.Endpoints()[n%3]+"/tidemark.v1.ClusterService/Status", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Authorization", "Bearer "+l.s.token("ops"))
	res, err := c.Do(q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", res.Status)
	}
	return nil
}

// more waits until a further n requests were done.
func (l *load) more(n int64) {
	l.s.t.Helper()
	want := l.done.Load() + n
	ask.Until(l.s.t, "the load goes on", func() bool { return l.done.Load() >= want || l.failed.Load() > 0 })
}

// issue makes a certificate by the CA in dir and gives both parts.
func (s *secured) issue(dir string, args ...string) (cert, key string) {
	s.t.Helper()
	if code, out := s.CLI(append(append([]string{"cert"}, args...), "--dir", dir)...); code != 0 {
		s.t.Fatal(out)
	}
	c, err := os.ReadFile(filepath.Join(dir, args[1]+".crt"))
	if err != nil {
		s.t.Fatal(err)
	}
	k, err := os.ReadFile(filepath.Join(dir, args[1]+".key"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(c), string(k)
}

// taken waits until a node has said n times that it uses files with that name.
func (s *secured) taken(node, file string, n int) {
	s.t.Helper()
	pattern := regexp.MustCompile(`a changed file is in use: files=\[[^\]]*` + regexp.QuoteMeta(s.path(file)))
	ask.Until(s.t, fmt.Sprintf("%s takes %s for the %d. time", node, file, n), func() bool {
		return len(pattern.FindAllString(s.Log(node), -1)) >= n
	})
}

// serial is that of the certificate that a new connection to addr is shown.
func (s *secured) serial(addr string) string {
	s.t.Helper()
	nc, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer nc.Close()
	return nc.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// TestRotation (C45: apache/rocketmq#9483, hashicorp/vault#18129): all
// certificates and the CA are replaced under load, certificate and key seconds
// apart, and no request fails; then nobody with the old CA gets in, and a node
// that was killed comes back among the new.
func TestRotation(t *testing.T) {
	s := start(t, "  - {callers: [app], may: [commit]}\n")
	cert, key := s.issue(s.dir, "client", "app")
	old := filepath.Join(t.TempDir(), "old")
	if err := os.MkdirAll(old, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"app.crt": cert, "app.key": key} {
		if err := os.WriteFile(filepath.Join(old, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, stop := s.load()
	l.more(50)

	// The new CA beside the old one.
	next := filepath.Join(t.TempDir(), "next")
	if code, out := s.CLI("cert", "ca", next); code != 0 {
		t.Fatal(out)
	}
	newCA, err := os.ReadFile(filepath.Join(next, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	s.write("ca.crt", s.read("ca.crt")+string(newCA))
	for _, n := range s.Names() {
		s.taken(n, "ca.crt", 2) // that of clients, and that of members
	}
	l.more(50)

	// The leaves, one after the other.
	for i, n := range s.Names() {
		before := s.serial(s.API(n))
		cert, key := s.issue(next, "node", n, "127.0.0.1", "localhost")
		s.write(n+".crt", cert)
		ask.Until(t, n+" tells of a key that does not fit", func() bool {
			return strings.Contains(s.Log(n), "a changed file cannot be used")
		})
		if s.serial(s.API(n)) != before {
			t.Errorf("%s shows a certificate whose key it does not have", n)
		}
		if page := s.page(n, "/metrics"); !strings.Contains(page, "\ntidemark_files_not_in_use 1\n") {
			t.Error("the metrics do not tell of the files")
		}
		if page := s.page(n, "/"); !strings.Contains(page, "!! not in use: ") {
			t.Errorf("the page does not tell of the files: %s", page)
		}
		s.write(n+".key", key)
		s.taken(n, n+".crt", 1)
		if s.serial(s.API(n)) == before {
			t.Errorf("%s shows the old certificate", n)
		}
		l.more(int64(10 * (i + 1)))
	}
	cert, key = s.issue(next, "client", "app")
	s.write("app.key", key)
	s.write("app.crt", cert)
	l.more(50)

	// The old CA goes.
	s.write("ca.crt", string(newCA))
	for _, n := range s.Names() {
		s.taken(n, "ca.crt", 4)
	}
	l.more(100)
	stop()
	if l.failed.Load() > 0 {
		t.Fatalf("%d requests failed", l.failed.Load())
	}
	s.Sh("kill", "n2")
	s.Sh("start", "n2")
	s.Sh("ready")
	s.states(s.client("ops"))
	c := s.client("", client.WithTLSFiles(client.TLSFiles{CA: s.path("ca.crt"), Cert: filepath.Join(old, "app.crt"), Key: filepath.Join(old, "app.key")}))
	if _, _, err := c.Fetch(ask.Within(t, ask.Patience), offset.ReadAt{}, offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}}); !errors.Is(err, offset.ErrDenied) {
		t.Errorf("a certificate of the old CA: %v", err)
	}
	t.Logf("%d requests, 0 failed", l.done.Load())
}

// page is a page of a node, as an operator's browser gets it.
func (s *secured) page(n, path string) string {
	s.t.Helper()
	res, err := s.http().Get("https://" + s.API(n) + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	return readAll(s.t, res)
}

// TestTokensAreReplaced: a new token of the same caller is shown before the old
// one is taken back, and no call fails, on connections that were opened with
// the old one either; who still shows the old one is refused.
func TestTokensAreReplaced(t *testing.T) {
	s := start(t, "  - {callers: [app], may: [commit]}\n", "app")
	k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}}
	stale := s.client("", client.WithToken(s.token("app")))
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{s: s, ctx: ctx}
	for i := range 4 {
		c, k := s.client("app"), k
		k.Group = fmt.Sprint("g", i)
		l.group.Go(func() {
			l.forever(func(ctx context.Context, n int64) error { return commit(ctx, c, k, n) })
		})
	}
	stop := sync.OnceFunc(func() { cancel(); l.group.Wait() })
	t.Cleanup(stop)
	l.more(50)
	if err := commit(ask.Within(t, ask.Patience), stale, k, 1); err != nil {
		t.Fatal(err)
	}

	token := auth.NewToken()
	line, err := auth.TokenLine("app", token)
	if err != nil {
		t.Fatal(err)
	}
	before := s.read("tokens")
	s.write("tokens", before+line+"\n")
	for _, n := range s.Names() {
		s.taken(n, "tokens", 2)
	}
	s.write("app.token", token)
	var kept []string
	for _, l := range strings.Split(before, "\n") {
		if !strings.HasPrefix(l, "app ") {
			kept = append(kept, l)
		}
	}
	s.write("tokens", strings.Join(kept, "\n")+line+"\n")
	for _, n := range s.Names() {
		s.taken(n, "tokens", 3)
	}
	l.more(100)
	stop()
	if err := commit(ask.Within(t, ask.Patience), stale, k, 2); !errors.Is(err, offset.ErrDenied) {
		t.Errorf("with the token that was taken back: %v", err)
	}
	t.Logf("%d requests, %d failed", l.done.Load(), l.failed.Load())
}
