package secured

import (
	"bytes"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/offset"
)

func pool(t testing.TB, pem string) *x509.CertPool {
	t.Helper()
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM([]byte(pem)) {
		t.Fatal("no certificate")
	}
	return p
}

// The rights, in the order in which each holds those before.
const (
	nothing = iota
	read
	write
	admin
)

// callers are who tries; each may do what its right says with the group "g",
// and nothing else.
var callers = []struct {
	name  string // of the token; empty: without
	right int
}{{"", nothing}, {"nobody", nothing}, {"reader", read}, {"committer", write}}

const rights = `  - {callers: [reader], may: [read], groups: [g]}
  - {callers: [committer], may: [commit], groups: [g]}
  - {callers: [group-admin], may: [admin], groups: [g]}
`

// rpc is a call as JSON has it; ACT and CLUSTER are filled in.
type rpc struct {
	method, body string
	needs        int
}

const act = `"act": {"id": "ACT", "base": "0", "clusterId": "CLUSTER"}`

var rpcs = []rpc{
	{"ClusterService/Status", `{}`, read},
	{"OffsetService/Fetch", `{"keys": [{"group": "g", "topic": "t"}]}`, read},
	{"GroupService/List", `{"what": "LIST_KIND_KEYS", "group": "g"}`, read},
	{"GroupService/Export", `{"group": "g"}`, read},
	{"OffsetService/Commit", `{"clusterId": "CLUSTER", "commits": [{"group": "g", "topic": "t", "queueIds": [0], "offsets": ["9"], "epochs": ["0"]}]}`, write},
	{"OffsetService/Set", `{"clusterId": "CLUSTER", "key": {"group": "g", "topic": "t"}, "offset": "3", "exists": true, "replaces": "5"}`, write},
	{"OffsetService/Set", `{"clusterId": "CLUSTER", "key": {"group": "g", "topic": "t"}, "offset": "3", "exists": true, "replaces": "5", "operator": true}`, admin},
	{"GroupService/Reset", `{` + act + `, "targets": [{"key": {"group": "g", "topic": "t"}, "offset": "1"}]}`, admin},
	{"GroupService/Remove", `{` + act + `, "scope": {"group": "g"}}`, admin},
	{"GroupService/Clone", `{` + act + `, "from": "g", "to": "g2"}`, admin},
	{"GroupService/Expire", `{` + act + `, "groups": [{"group": "g", "seen": "99999"}]}`, admin},
	{"GroupService/Claim", `{` + act + `, "group": "g", "holder": "h"}`, admin},
	{"GroupService/Import", `{` + act + `, "step": "IMPORT_STEP_BEGIN", "hash": "` + hash + `", "chunks": 1, "offsets": "1"}`, admin},
	{"GroupService/Import", `{` + act + `, "step": "IMPORT_STEP_CHUNK", "targets": [{"key": {"group": "g", "topic": "t"}, "offset": "1"}]}`, admin},
	{"ClusterService/AddMember", `{"id": "n9/00112233445566778899aabbccddeeff", "peerAddress": "127.0.0.1:9"}`, admin},
	{"ClusterService/PromoteMember", `{"id": "n2"}`, admin},
	{"ClusterService/RemoveMember", `{"id": "n2"}`, admin},
	{"ClusterService/Transfer", `{}`, admin},
	{"ClusterService/Snapshot", `{}`, admin},
	{"ClusterService/Backup", `{}`, admin},
	{"ClusterService/Backup", `{"level": "READ_LEVEL_LOCAL"}`, admin},
	{"ClusterService/RaiseLevel", `{"level": 1}`, admin},
}

const hash = "0000000000000000000000000000000000000000000000000000000000000001"

// face is a way to send an rpc; refused tells whether the answer is that the
// caller may not, and says how it was answered.
type face struct {
	name string
	send func(s *secured, addr, token string, r rpc) (refused bool, answer string)
}

var faces = []face{{"JSON", sendJSON}, {"gRPC", sendGRPC}}

func (s *secured) http() *http.Client {
	t := &http.Transport{TLSClientConfig: s.tls(), DisableKeepAlives: true, ForceAttemptHTTP2: true}
	return &http.Client{Transport: t, Timeout: 30 * time.Second}
}

func (s *secured) post(addr, token, kind string, r rpc, body []byte) (*http.Response, []byte) {
	s.t.Helper()
	q, err := http.NewRequest(http.MethodPost, "https://"+addr+"/tidemark.v1."+r.method, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	q.Header.Set("Content-Type", kind)
	q.Header.Set("Te", "trailers")
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := s.http().Do(q)
	if err != nil {
		s.t.Fatalf("%s: %v", r.method, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("%s: %v", r.method, err)
	}
	return res, answer
}

// framed is a message as gRPC and streams have it.
func framed(body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
}

func sendJSON(s *secured, addr, token string, r rpc) (bool, string) {
	if strings.HasSuffix(r.method, "Export") || strings.HasSuffix(r.method, "Backup") { // a stream answers with 200 and tells in its end
		_, answer := s.post(addr, token, "application/connect+json", r, framed(r.body))
		return strings.Contains(string(answer), "permission_denied"), string(answer)
	}
	res, answer := s.post(addr, token, "application/json", r, []byte(r.body))
	var said struct {
		Code    string
		Details []struct{ Debug struct{ Code int } }
	}
	_ = json.Unmarshal(answer, &said) // what is none is no refusal
	refused := res.StatusCode == http.StatusForbidden && said.Code == "permission_denied" && len(said.Details) == 1 &&
		said.Details[0].Debug.Code == int(offset.CodeDenied)
	return refused, fmt.Sprintf("%d %s", res.StatusCode, answer)
}

func sendGRPC(s *secured, addr, token string, r rpc) (bool, string) {
	res, answer := s.post(addr, token, "application/grpc+json", r, framed(r.body))
	status := res.Trailer.Get("Grpc-Status") + res.Header.Get("Grpc-Status")
	return status == "7", fmt.Sprintf("%s %s %q", status, res.Trailer.Get("Grpc-Message"), answer)
}

// TestForbiddenCalls: each call over each face by callers who have no right, or
// a lesser one, is refused with its code, changes nothing anywhere, and is noted.
func TestForbiddenCalls(t *testing.T) {
	s := start(t, rights, "nobody", "reader", "committer", "group-admin")
	ops := s.client("ops")
	ctx := ask.Within(t, ask.Patience)
	k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}}
	if err := commit(ctx, ops, k, 5); err != nil {
		t.Fatal(err)
	}
	st, err := ops.Status(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	before, refused := s.states(ops), 0
	fill := strings.NewReplacer("CLUSTER", st.Meta.Cluster.String(), "ACT", "00112233445566778899aabbccddeeff")
	for i, addr := range s.Endpoints() { // the leader, and those that would forward
		for _, c := range callers {
			token := ""
			if c.name != "" {
				token = s.token(c.name)
			}
			for _, r := range rpcs {
				if r.body = fill.Replace(r.body); r.needs <= c.right {
					continue
				}
				f := faces[i%len(faces)]
				if ok, answer := f.send(s, addr, token, r); !ok {
					t.Errorf("%s of %s by %q over %s: %s", r.method, r.body, c.name, f.name, answer)
				}
				refused++
			}
		}
		// What was shown and is wrong is not taken for nothing.
		for _, token := range []string{auth.NewToken(), "x", s.token("ops") + "x"} {
			if ok, answer := sendJSON(s, addr, token, rpcs[0]); !ok {
				t.Errorf("a wrong token: %s", answer)
			}
			refused++
		}
		// An admin of a group administers no cluster, and no other group.
		for _, r := range []rpc{
			{"ClusterService/Transfer", `{}`, admin},
			{"ClusterService/Backup", `{}`, admin},
			{"GroupService/Clone", fill.Replace(`{` + act + `, "from": "g", "to": "g2"}`), admin},
			{"GroupService/List", `{}`, read},
		} {
			if ok, answer := sendGRPC(s, addr, s.token("group-admin"), r); !ok {
				t.Errorf("%s by the admin of a group: %s", r.method, answer)
			}
			refused++
		}
	}
	refused += s.overStreams(k, st.Meta.Cluster)
	if after := s.states(ops); after != before {
		t.Errorf("the state was %s, and is %s", before, after)
	}
	cli := s.overTheCommandLine()
	if after := s.states(ops); after != before {
		t.Errorf("the state was %s, and is %s, after the command line", before, after)
	}
	s.Sh("down") // what is noted late is noted now
	lines, total := s.denials()
	if total < refused+cli {
		t.Errorf("%d refusals are noted, of %d over the API and at least %d over the command line", total, refused, cli)
	}
	if len(lines) > 3*2*120 {
		t.Errorf("%d lines of refusals", len(lines))
	}
	for _, l := range lines {
		if fmt.Sprint(l["detail"]) == "" || fmt.Sprint(l["from"]) == "" || l["result"] != offset.ErrDenied.Error() {
			t.Errorf("a line says too little: %v", l)
		}
	}
	t.Logf("%d calls refused over the API, %d commands; %d lines note %d refusals", refused, cli, len(lines), total)
}

// overStreams tries the calls of the Go client's stream.
func (s *secured) overStreams(k offset.Key, id offset.ClusterID) (refused int) {
	ctx := ask.Within(s.t, ask.Patience)
	for _, c := range callers {
		cl := s.client(c.name)
		for what, call := range map[int]func() error{
			read: func() error { _, _, err := cl.Fetch(ctx, offset.ReadAt{}, k); return err },
			write: func() error {
				_, _, err := cl.Commit(ctx, id, []offset.Commit{{Key: k, Offset: 9}})
				return err
			},
			admin: func() error {
				_, _, err := cl.Set(ctx, offset.Set{Key: k, Cluster: id, Operator: true})
				return err
			},
		} {
			if what <= c.right {
				continue
			}
			if err := call(); !errors.Is(err, offset.ErrDenied) {
				s.t.Errorf("call %d on the stream of %q: %v", what, c.name, err)
			}
			refused++
		}
	}
	return refused
}

// overTheCommandLine tries commands: exit code 4.
func (s *secured) overTheCommandLine() (refused int) {
	file := filepath.Join(s.t.TempDir(), "f.csv")
	if code, out := s.tidemark("ops", "export", file, "--group", "g", "--format", "csv"); code != 0 {
		s.t.Fatalf("export: %d %s", code, out)
	}
	saved := filepath.Join(s.t.TempDir(), "all.backup")
	if code, out := s.tidemark("ops", "cluster", "backup", saved); code != 0 {
		s.t.Fatalf("backup: %d %s", code, out)
	}
	commands := []struct {
		line  string
		needs int
	}{
		{"get g", read}, {"group describe g", read}, {"export " + file + ".new --group g --format csv", read}, {"cluster status", read},
		{"commit g t 0 9 --execute", write},
		{"group reset g --to-offset 1 --execute", admin}, {"group set g t:0=4 --execute", admin}, {"group remove g --execute", admin},
		{"group clone g g2 --execute", admin}, {"import " + file + " --execute", admin},
		{"cluster remove n3 --execute", admin}, {"cluster transfer --execute", admin}, {"cluster snapshot", admin},
		{"cluster backup " + file + ".backup", admin}, {"cluster restore " + saved + " --execute --allow-removal", admin},
	}
	for _, c := range callers {
		for _, cmd := range commands {
			if cmd.needs <= c.right {
				continue
			}
			if code, out := s.tidemark(c.name, strings.Fields(cmd.line)...); code != 4 {
				s.t.Errorf("tidemark %s by %q: exit code %d, %s", cmd.line, c.name, code, out)
			}
			refused++
		}
	}
	return refused
}

// CLI runs the CLI without a cluster.
func (s *secured) CLI(args ...string) (code int, out string) {
	s.t.Helper()
	r := s.TidemarkAt(s.t.Context(), "127.0.0.1:1", args...)
	return r.Code, r.Out + r.Err
}

// TestClientCertificates: the common name is who calls; one that has expired,
// or is of another CA, is refused in words, and is not taken for nobody.
func TestClientCertificates(t *testing.T) {
	s := start(t, "  - {callers: [app], may: [commit], groups: [g]}\n  - {callers: [anonymous], may: [read], groups: [g]}\n")
	if code, out := s.CLI("cert", "client", "app", "--dir", s.dir); code != 0 {
		t.Fatal(out)
	}
	foreign := t.TempDir()
	for _, args := range [][]string{{"cert", "ca", foreign}, {"cert", "client", "app", "--dir", foreign}} {
		if code, out := s.CLI(args...); code != 0 {
			t.Fatal(out)
		}
	}
	k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}}
	as := func(dir string) *client.Client {
		return s.client("", client.WithTLSFiles(client.TLSFiles{CA: s.path("ca.crt"), Cert: filepath.Join(dir, "app.crt"), Key: filepath.Join(dir, "app.key")}))
	}
	if err := commit(ask.Within(t, ask.Patience), as(s.dir), k, 5); err != nil {
		t.Errorf("with the certificate: %v", err)
	}
	_, _, err := as(foreign).Fetch(ask.Within(t, ask.Patience), offset.ReadAt{}, k)
	if !errors.Is(err, offset.ErrDenied) || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("with one of another CA: %v", err)
	}
	if _, _, err := s.client("").Fetch(ask.Within(t, ask.Patience), offset.ReadAt{}, k); err != nil {
		t.Errorf("without one, what anonymous may read: %v", err)
	}
}
