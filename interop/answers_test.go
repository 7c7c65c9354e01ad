package interop

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
)

// requests are commits and queries of all sorts, each as fields of the right
// one; a field that is "-" is left out.
var requests = []struct {
	what   string
	code   int
	fields string
}{
	{"a query before any commit", codeQuery, ""},
	{"the same, when 0 may not stand for none", codeQuery, "setZeroIfNotFound=false"},
	{"a commit", codeUpdate, "commitOffset=2"},
	{"a query", codeQuery, ""},
	{"a lower commit", codeUpdate, "commitOffset=1"},
	{"a query", codeQuery, ""},
	{"an unknown group", codeUpdate, "commitOffset=2 consumerGroup=nobody"},
	{"an unknown topic", codeUpdate, "commitOffset=2 topic=nothing"},
	{"a query of an unknown group", codeQuery, "consumerGroup=nobody"},
	{"a query of an unknown topic", codeQuery, "topic=nothing"},
	{"a query of a queue that is not there", codeQuery, "queueId=99"},
	{"a queue that is not there", codeUpdate, "commitOffset=5 queueId=99"},
	{"a query of it", codeQuery, "queueId=99"},
	{"an offset beyond the end", codeUpdate, "commitOffset=9223372036854775807 queueId=2"},
	{"a query of it", codeQuery, "queueId=2"},
	{"a negative offset", codeUpdate, "commitOffset=-1 queueId=3"},
	{"a query of it", codeQuery, "queueId=3"},
	{"no offset", codeUpdate, "commitOffset=-"},
	{"an offset that is no number", codeUpdate, "commitOffset=many"},
	{"an offset beyond 64 bits", codeUpdate, "commitOffset=9223372036854775808"},
	{"a queue that is no number", codeUpdate, "commitOffset=2 queueId=first"},
	{"no queue", codeUpdate, "commitOffset=2 queueId=-"},
	{"no group", codeUpdate, "commitOffset=2 consumerGroup=-"},
	{"no topic", codeUpdate, "commitOffset=2 topic=-"},
	{"a query without a queue", codeQuery, "queueId=-"},
	{"a query without a group", codeQuery, "consumerGroup=-"},
	{"another broker's name", codeUpdate, "commitOffset=2 bname=elsewhere"},
	{"a query with another broker's name", codeQuery, "bname=elsewhere"},
	{"a query at the end", codeQuery, ""},
}

// sameAnswers (C23, apache/rocketmq#10832, #3474): commits and queries, good
// and bad, and frames that are none, are answered by a broker with our jar as
// by one without.
func sameAnswers(t *testing.T, plain, ours side) {
	want, got := answers(plain), answers(ours)
	for i := range want {
		if plain.Version == javaparts.RocketMQ4 && nameless.MatchString(want[i]) {
			continue
		}
		if want[i] != got[i] {
			t.Errorf("plain: %s\nwith the jar: %s", want[i], got[i])
		}
	}
	t.Logf("the plain broker answers:\n%s", strings.Join(want, "\n"))
}

// nameless are requests of which 4.9 makes a group or topic "null"; ours has none
// of that name.
var nameless = regexp.MustCompile(`^\d (no group|no topic|a query without a group) `)

// answers are what a broker says to all requests, in both forms of header,
// and to bytes that are no frames.
func answers(s side) (said []string) {
	s.Helper()
	b := s.broker
	for _, form := range []remoting.Form{remoting.JSON, remoting.Binary} {
		topic, group := fmt.Sprint("orders-", form), fmt.Sprint("billing-", form)
		b.CreateTopic(topic, 4)
		b.CreateGroup(group)
		b.Send(topic, 0, []byte("a message"))
		w := dial(s, b, form)
		ask.Until(s, "the message is in its queue", func() bool {
			return w.ask(codeMaxOffset, queueFields(group, topic, 0), nil).Ext["offset"] == "1"
		})
		for _, r := range requests {
			f := w.ask(r.code, changed(queueFields(group, topic, 0), r.fields), nil)
			if f.Code == answerError {
				f.Remark = "" // names the line that did not expect it
			}
			said = append(said, fmt.Sprintf("%d %-42s %d %v %q", form, r.what, f.Code, f.Ext, strings.TrimSpace(f.Remark)))
		}
	}
	return append(said, toNoFrames(s)...)
}

// changed lays "name=value name=value" over fields.
func changed(fields map[string]string, by string) map[string]string {
	fields = maps.Clone(fields)
	for _, pair := range strings.Fields(by) {
		name, value, _ := strings.Cut(pair, "=")
		if value == "-" {
			delete(fields, name)
			continue
		}
		fields[name] = value
	}
	return fields
}

// toNoFrames is what becomes of a connection that sends what is no frame, again
// and again, while another is not held up.
func toNoFrames(s side) (said []string) {
	s.Helper()
	healthy := dial(s, s.broker, remoting.JSON)
	for what, frame := range fixture(s, "C23.frames.hex") {
		ends := map[string]bool{}
		for i := range effort.Of(3, 1_000) {
			if ends["silence"] && i >= 3 {
				break // which takes a deadline each time
			}
			ends[end(s, frame)] = true
			began := time.Now()
			healthy.query("billing-0", "orders-0", 0)
			if took := time.Since(began); took > time.Second {
				s.Errorf("%s: a query beside it took %v", what, took)
			}
		}
		said = append(said, fmt.Sprintf("%s: %v", what, slices.Sorted(maps.Keys(ends))))
	}
	slices.Sort(said)
	return said
}

// end tells how a connection ends that sends these bytes.
func end(s side, frame []byte) string {
	s.Helper()
	c, err := net.DialTimeout("tcp", s.broker.Addr, 5*time.Second)
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(frame); err != nil {
		s.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		s.Fatal(err)
	}
	_, err = io.ReadFull(c, make([]byte, 4))
	switch {
	case err == nil:
		return "answered"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "silence"
	}
	return "closed"
}

// fixture gives the frames of a file by what stands above each.
func fixture(s side, name string) map[string][]byte {
	s.Helper()
	f, err := os.Open(filepath.Join(local.Root(), "rocketmq", "testdata", name))
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	frames, what := map[string][]byte{}, ""
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if text, comment := strings.CutPrefix(lines.Text(), "# "); comment {
			what = text
			continue
		}
		b, err := hex.DecodeString(lines.Text())
		if err != nil {
			s.Fatal(err)
		}
		frames[what] = b
	}
	return frames
}
