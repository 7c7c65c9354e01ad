package peer

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

var (
	sampleGreeting = greeting{kind: kindCall, maxLevel: 1, cluster: clusterA, run: RunID{1, 2}, id: "n1/1", target: "n2/2"}
	sampleAnswer   = answer{code: offset.CodeForeignCluster, maxLevel: 2, level: 1, cluster: clusterB, run: RunID{3}, id: "n2/2", reason: "no"}
)

// The bytes of both messages, so that two builds understand one another.
func TestHandshakeBytes(t *testing.T) {
	for what, tt := range map[string]struct{ got, want string }{
		"greeting": {hex.EncodeToString(sampleGreeting.append(nil)), "74646d6b70656572" + "01020100" +
			"0a000000000000000000000000000000" + "01020000000000000000000000000000" + "00040004" + "6e312f31" + "6e322f32" + "b67c7663"},
		"answer": {hex.EncodeToString(sampleAnswer.append(nil)), "74646d6b70656572" + "010d0201" +
			"0b000000000000000000000000000000" + "03000000000000000000000000000000" + "00040002" + "6e322f32" + "6e6f" + "452c661b"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", what, tt.got, tt.want)
		}
	}
}

func TestHandshakeReadsExactlyItsBytes(t *testing.T) {
	r := bytes.NewReader(append(sampleGreeting.append(nil), "raft"...))
	g, err := readGreeting(r)
	if err != nil || g != sampleGreeting {
		t.Errorf("%+v, %v", g, err)
	}
	if rest, _ := io.ReadAll(r); string(rest) != "raft" {
		t.Errorf("%q is left for what follows", rest)
	}
	a, err := readAnswer(bytes.NewReader(sampleAnswer.append(nil)))
	if err != nil || a != sampleAnswer {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestDamagedHandshakes(t *testing.T) {
	whole := sampleGreeting.append(nil)
	for n := range whole {
		if _, err := readGreeting(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("cut to %d bytes, it passes", n)
		}
	}
	for i := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[i] ^= 1 << bit
			if _, err := readGreeting(bytes.NewReader(b)); err == nil {
				t.Errorf("with bit %d of byte %d turned, it passes", bit, i)
			}
		}
	}
	newer := bytes.Clone(whole)
	newer[8]++
	if _, err := readGreeting(bytes.NewReader(newer)); !errors.Is(err, errVersion) {
		t.Errorf("another version: %v", err)
	}
	for name, g := range map[string]greeting{
		"no id":             {kind: kindRaft, run: RunID{1}},
		"no run":            {kind: kindRaft, id: "n1/1"},
		"no kind":           {run: RunID{1}, id: "n1/1"},
		"an unknown kind":   {kind: 4, run: RunID{1}, id: "n1/1"},
		"a forged log line": {kind: kindRaft, run: RunID{1}, id: "n1/1\nERROR"},
		"a long id":         {kind: kindRaft, run: RunID{1}, id: strings.Repeat("n", 289)},
	} {
		if _, err := readGreeting(bytes.NewReader(g.append(nil))); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	long := answer{id: "n1/1", reason: strings.Repeat("é", maxReason)}
	if a, err := readAnswer(bytes.NewReader(long.append(nil))); err != nil || len(a.reason) != maxReason {
		t.Errorf("a long reason: %d bytes, %v", len(a.reason), err)
	}
}

func TestRefusalOfAnyCodeIsNotDone(t *testing.T) {
	for code := range 256 {
		err := answer{code: offset.Code(code), reason: "a\nb"}.refusal("n2:1")
		if code != 0 && (err == nil || offset.OutcomeOf(err) != offset.NotDone) {
			t.Errorf("code %d: %v", code, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("a refusal forges a line: %q", err)
		}
	}
}

func FuzzGreeting(f *testing.F) {
	f.Add(sampleGreeting.append(nil))
	f.Add(sampleAnswer.append(nil))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		g, err := readGreeting(r)
		if err != nil {
			return
		}
		used := b[:len(b)-r.Len()]
		if !bytes.Equal(g.append(nil), used) {
			t.Fatalf("%+v is not what was read", g)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add(sampleAnswer.append(nil))
	f.Add(sampleGreeting.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		a, err := readAnswer(r)
		if err == nil && !bytes.Equal(a.append(nil), b[:len(b)-r.Len()]) {
			t.Fatalf("%+v is not what was read", a)
		}
	})
}
