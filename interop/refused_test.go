package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// deadAddress is one where nobody listens.
const deadAddress = "127.0.0.1:9"

// TestStartsThatMustNotBe: each ends with a sentence in the broker's log that
// says what to do, and takes nothing from the broker that runs. On the same
// stand, acts that must not be.
func TestStartsThatMustNotBe(t *testing.T) {
	versions := effort.Of([]javaparts.Version{javaparts.RocketMQ5}, []javaparts.Version{javaparts.RocketMQ5, javaparts.RocketMQ53})
	for _, v := range versions {
		t.Run(string(v), func(t *testing.T) { mustNotBe(t, stand.New(t, v, stand.Tidemark)) })
	}
}

func mustNotBe(t *testing.T, s *stand.Stand) {
	b := s.Broker(nil)
	b.CreateTopic("load", 2)
	b.CreateGroup("g")
	fill(b, 2, 10)
	for _, c := range []struct {
		what   string
		config map[string]string
		parts  []string
		short  bool // also where there is little time
	}{
		{"dead addresses", map[string]string{"tidemarkEndpoints": deadAddress, "tidemarkStartSeconds": "1"},
			[]string{deadAddress, "tidemarkWithoutCluster=start"}, true},
		{"another cluster", map[string]string{"tidemarkCluster": "00000000000000000000000000000000"}, []string{"cluster"}, true},
		{"no addresses", map[string]string{"tidemarkEndpoints": ""}, []string{"tidemarkEndpoints is missing"}, false},
		{"a setting that is none", map[string]string{"tidemarkEndpoint": deadAddress}, []string{"did you mean tidemarkEndpoints?"}, false},
		{"DLedger", map[string]string{"enableDLegerCommitLog": "true"}, []string{"enableDLegerCommitLog=true is not supported"}, false},
		{"light queues", map[string]string{"enableLmq": "true"}, []string{"enableLmq=true is not supported"}, false},
		{"RocksDB", map[string]string{"storeType": "defaultRocksDB"}, []string{"storeType=defaultRocksDB is not supported"}, false},
		{"the second format of settings", map[string]string{"configManagerVersion": "v2"},
			[]string{"configManagerVersion=v2 is not supported"}, true},
		{"POP's own store with slaves", map[string]string{"popConsumerKVServiceEnable": "true", "brokerRole": "SYNC_MASTER"},
			[]string{"popConsumerKVServiceEnable=true with slaves is not supported"}, false},
	} {
		if c.short || effort.Of(false, true) {
			t.Run(c.what, func(t *testing.T) { wantRefused(t, s.NewBroker(c.config), c.parts...) })
		}
	}
	t.Run("a damaged file", func(t *testing.T) { damagedFile(t, s) })
	t.Run("two of one name", func(t *testing.T) { twoOfOneName(t, s, b) })
	t.Run("acts without the cluster", func(t *testing.T) { noClusterNoAct(t, s, b) })
}

// damagedFile starts a broker for the first time on a file that was cut off.
func damagedFile(t *testing.T, s *stand.Stand) {
	b := s.NewBroker(map[string]string{"brokerName": "damaged"})
	writeOffsets(t, b, `{"offsetTable":{"load@g":{0:7,1:`)
	wantRefused(t, b, "consumerOffset.json")
	if effort.Of(true, false) {
		return
	}
	writeOffsets(t, b, `{"offsetTable":{"load@g":{0:7,1:8}}}`)
	b.Config["tidemarkLostLog"] = "keep" // there are no messages
	b.Start()
	wantOffsets(t, "after the first start on a whole file", b, 7, 8)
}

// twoOfOneName: a broker on the store of one that runs is stopped before it
// takes the name away; one with another store needs to be told.
func twoOfOneName(t *testing.T, s *stand.Stand, b *javaparts.Broker) {
	same := s.NewBroker(map[string]string{"storePathRootDir": b.Store})
	wantRefused(t, same, "a broker runs on "+b.Store+" already")
	other := s.NewBroker(map[string]string{"brokerClusterName": "elsewhere"})
	wantRefused(t, other, "tidemarkOtherHolder")
	if code := dial(t, b, remoting.JSON).commit("g", "load", 0, 5); code != answerOK {
		t.Errorf("after starts that must not be, the running broker's commit was answered by code %d", code)
	}
}

func writeOffsets(t *testing.T, b *javaparts.Broker, text string) {
	t.Helper()
	dir := filepath.Join(b.Store, "config")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "consumerOffset.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// noClusterNoAct: what tools do to offsets is refused while the cluster is away,
// nothing has changed then, and it is done once the cluster is back. Consumers
// go on meanwhile.
func noClusterNoAct(t *testing.T, s *stand.Stand, b *javaparts.Broker) {
	b.CreateGroup("h")
	w := dial(t, b, remoting.JSON)
	for q := range 2 {
		w.commit("g", "load", q, 7)
	}
	acts := []struct {
		what string
		code int
		ext  map[string]string
	}{
		{"a reset", codeReset, map[string]string{"topic": "load", "group": "g", "timestamp": "-1", "isForce": "true", "queueId": "-1", "offset": "-1"}},
		{"a copy", 314, map[string]string{"srcGroup": "g", "destGroup": "h", "topic": "load", "offline": "true"}},
		{"removing the group", codeDeleteGroup, map[string]string{"groupName": "g", "cleanOffset": "true"}},
		{"removing the topic", 215, map[string]string{"topic": "load"}},
	}
	for _, n := range s.Cluster.Names() {
		s.Cluster.Sh("kill", n)
	}
	for _, a := range acts {
		f := w.ask(a.code, a.ext, nil)
		if f.Code != answerError || f.Remark == "" {
			t.Errorf("%s without the cluster was answered by code %d %q, want 1 and why", a.what, f.Code, f.Remark)
		}
		t.Logf("%s: %s", a.what, f.Remark)
	}
	wantOffsets(t, "after acts that failed,", b, 7, 7)
	if f := w.ask(codeUpdate, commitFields("g", "load", 0, 8), nil); f.Code != 2 {
		t.Errorf("a two-way commit without the cluster was answered by code %d %q, want 2", f.Code, f.Remark)
	}
	w.must(w.QueueOneWay(codeUpdate, commitFields("g", "load", 1, 9), nil))
	w.must(w.Flush())
	wantOffsets(t, "without the cluster", b, 8, 9)

	s.Cluster.Sh("up", "3")
	s.Diff(b, "30s").Want(t, 0, "", "")
	if f := w.ask(acts[1].code, acts[1].ext, nil); f.Code != answerOK {
		t.Errorf("the copy was answered by code %d %q", f.Code, f.Remark)
	}
	if got := w.query("h", "load", 1); got != 9 {
		t.Errorf("the copy is at %d, want 9", got)
	}
	for _, a := range []int{0, 2, 3} {
		if f := w.ask(acts[a].code, acts[a].ext, nil); f.Code != answerOK {
			t.Errorf("%s was answered by code %d %q", acts[a].what, f.Code, f.Remark)
		}
	}
	s.Diff(b, "30s").Want(t, 0, "", "")
	if got := w.query("h", "load", 1); got != -1 {
		t.Errorf("after its topic was deleted, a queue is at %d, want none", got)
	}
}

// TestTheTokenStaysInTheFile: a broker speaks to a cluster with TLS by a token.
// No tool shows the token, and no setting of ours is changed at run time, while
// those of the broker are; a wrong token ends the start.
func TestTheTokenStaysInTheFile(t *testing.T) {
	apart(t)
	stand.Jar(t)
	s := &stand.Stand{TB: t, Where: stand.Tidemark, Version: javaparts.RocketMQ5, Cluster: local.Start(t, 3, local.Env("CLUSTER_TLS", "1"))}
	s.Names = javaparts.StartNameServer(t, s.Version)
	secrets := filepath.Join(s.Cluster.Run, "secrets")
	token, err := os.ReadFile(filepath.Join(secrets, "ops.token"))
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimSpace(string(token))
	ca := filepath.ToSlash(filepath.Join(secrets, "ca.crt"))
	wantRefused(t, s.NewBroker(map[string]string{"tidemarkToken": secret[:len(secret)-1], "tidemarkTlsCa": ca}), "token")
	b := s.Broker(map[string]string{"tidemarkToken": secret, "tidemarkTlsCa": ca})
	w := dial(t, b, remoting.JSON)
	wantPart(t, "getBrokerConfig", string(w.ask(26, nil, nil).Body), "tidemarkToken=***")
	if f := w.ask(25, nil, []byte("tidemarkToken=other\n")); f.Code != answerError {
		t.Errorf("changing our token at run time was answered by code %d", f.Code)
	}
	if f := w.ask(25, nil, []byte("maxTransferCountOnMessageInMemory=33\n")); f.Code != answerOK {
		t.Errorf("changing a setting of the broker's was answered by code %d %q", f.Code, f.Remark)
	}
	shown := string(w.ask(26, nil, nil).Body)
	wantPart(t, "getBrokerConfig", shown, "maxTransferCountOnMessageInMemory=33")
	wantNoPart(t, "getBrokerConfig", shown, secret)
	conf, err := os.ReadFile(filepath.Join(filepath.Dir(b.Store), "server.conf"))
	if err != nil {
		t.Fatal(err)
	}
	wantPart(t, "the file that the broker has written back", string(conf), "tidemarkToken="+secret)
	wantNoPart(t, "the broker's log", b.Log(), secret)
}

func wantPart(t *testing.T, what, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s has no %q: %s", what, part, text)
	}
}

func wantNoPart(t *testing.T, what, text, part string) {
	t.Helper()
	if strings.Contains(text, part) {
		t.Errorf("%s has %q", what, part)
	}
}
