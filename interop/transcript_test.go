package interop

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/javaparts"
)

// commands are what an operator does with offsets, and looks at, in an order in
// which each finds something to do. BROKER is the broker's address.
var commands = []string{
	"clusterList",
	"topicList -c",
	"topicStatus -t orders",
	"consumerProgress",
	"consumerProgress -g billing",
	"brokerConsumeStats -b BROKER",
	"queryCq -t orders -q 1 -i 0 -c 2 -b BROKER",
	"statsAll -t orders",
	"resetOffsetByTime -g billing -t orders -s 1000000000000",
	"consumerProgress -g billing",
	resetOfAQueue,
	"consumerProgress -g billing",
	"skipAccumulatedMessage -g audit -t orders",
	"consumerProgress -g audit",
	"cloneGroupOffset -s billing -d archive -t orders",
	"consumerProgress -g archive",
	"cloneGroupOffset -s nobody -d archive -t orders",
	"deleteSubGroup -b BROKER -g archive -r true",
	"updateSubGroup -b BROKER -g archive",
	"consumerProgress -g archive",
	"deleteTopic -c interop -t refunds",
	"consumerProgress -g billing",
	"resetOffsetByTime -g nobody -t orders -s now",
	"consumerStatus -g billing",
	"brokerStatus -b BROKER",
}

// resetOfAQueue ends the tools of 4.9, which do not know its options.
const resetOfAQueue = "resetOffsetByTime -g billing -t orders -q 2 -o 1 -b BROKER -s -1"

// sameTranscript: what RocketMQ's tools print of a broker with our jar is what
// they print of one without, but for times and our lines in brokerStatus.
func sameTranscript(t *testing.T, plain, ours side) {
	want, got := transcript(plain), transcript(ours)
	mark := func(line string) bool { return strings.HasPrefix(line, "tidemark") }
	if !slices.ContainsFunc(got, mark) {
		t.Error("brokerStatus has no line of ours")
	}
	got = slices.DeleteFunc(got, mark)
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("they differ from line %d on:\n%s\n\nwith the jar:\n%s", i, around(want, i), around(got, i))
		}
	}
	t.Logf("%d commands, the same lines from both:\n%s", len(commands), strings.Join(want, "\n"))
}

// around are the lines near one.
func around(lines []string, i int) string {
	return strings.Join(lines[min(max(0, i-8), len(lines)):min(len(lines), i+8)], "\n")
}

// transcript runs all commands on a new broker, and gives each with what it
// printed, without what differs from run to run.
func transcript(s side) (lines []string) {
	s.Helper()
	b := s.broker
	prepare(b)
	for _, command := range commands {
		if command == resetOfAQueue && s.Version == javaparts.RocketMQ4 {
			continue
		}
		out := s.Admin(strings.Fields(strings.ReplaceAll(command, "BROKER", b.Addr))...)
		lines = append(lines, "", "$ mqadmin "+command)
		if strings.HasPrefix(command, "brokerStatus") {
			lines = append(lines, nameOfEach(out)...)
			continue
		}
		lines = append(lines, strings.Split(constant(out, s), "\n")...)
	}
	return lines
}

// prepare gives a broker messages and offsets: some groups behind, one at the end.
func prepare(b *javaparts.Broker) {
	b.CreateTopic("orders", 4)
	b.CreateTopic("refunds", 2)
	for q := range 4 {
		for i := range 3 + q {
			b.Send("orders", q, fmt.Append(nil, "order ", i))
		}
	}
	b.Send("refunds", 0, []byte("refund"))
	for _, g := range []string{"billing", "audit", "archive"} {
		b.CreateGroup(g)
		b.CreateTopic("%RETRY%"+g, 1) // the tools ask for it to find the brokers of a group
	}
	for q := range 4 {
		b.Commit("billing", "orders", q, int64(3+q))
		b.Commit("audit", "orders", q, 1)
	}
	b.Commit("billing", "refunds", 0, 1)
}

// nameOfEach gives the names alone of "name : value" lines; values are times and loads.
func nameOfEach(out string) (names []string) {
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, ":")
		name, _, _ = strings.Cut(name, "_/") // which a folder's name follows
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// What differs from run to run: addresses, times, figures a second.
var (
	dates   = regexp.MustCompile(`\d{4}-\d\d-\d\d[ ,]\d\d:\d\d:\d\d([,.]\d+)?`)
	stamps  = regexp.MustCompile(`\b1[789]\d{11}\b`)
	decimal = regexp.MustCompile(`\b\d+\.\d+\b`)
	clients = regexp.MustCompile(`TOOLS_CONSUMER[\w@#.-]*|CID_[\w@#.-]*@[\w@#.-]*|\d+\.\d+\.\d+\.\d+@[\w#]+`)
	objects = regexp.MustCompile(`@[0-9a-f]{6,8}\b`)
	blanks  = regexp.MustCompile(` {2,}`)
	sampled = regexp.MustCompile(`(?m)FIGURE  FIGURE  \d+  \d+ *$`) // of a day, as sampled until now
)

func constant(out string, s side) string {
	b := s.broker
	_, port, _ := strings.Cut(b.Addr, ":")
	n, _ := strconv.Atoi(port)
	for _, r := range []struct{ old, new string }{
		{b.Addr, "BROKER"}, {fmt.Sprintf("127.0.0.1:%d", n-2), "BROKER-2"}, {s.Names.Addr, "NAMES"},
	} {
		out = strings.ReplaceAll(out, r.old, r.new)
	}
	var kept []string
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "\tat ") && !strings.HasPrefix(line, "\t... ") {
			kept = append(kept, line)
		}
	}
	out = strings.Join(kept, "")
	for _, r := range []struct {
		what *regexp.Regexp
		with string
	}{{dates, "DATE"}, {clients, "CLIENT"}, {stamps, "TIME"}, {decimal, "FIGURE"}, {objects, "@OBJECT"}, {blanks, "  "}, {sampled, "FIGURES"}} {
		out = r.what.ReplaceAllString(out, r.with)
	}
	return out
}
