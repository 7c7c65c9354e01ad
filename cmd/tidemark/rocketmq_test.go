package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
	"github.com/tidemark-mq/tidemark/rocketmq"
)

// TestDiffAndImportOfRealBrokers: what is imported from a running broker is
// equal to it; one offset changed behind its back is reported as exactly one.
func TestDiffAndImportOfRealBrokers(t *testing.T) {
	for _, v := range []javaparts.Version{javaparts.RocketMQ5, javaparts.RocketMQ4} {
		t.Run(string(v), func(t *testing.T) {
			ns := javaparts.StartNameServer(t, v)
			b := javaparts.StartBroker(t, v, ns, map[string]string{"brokerName": "bk-north"})
			b.CreateTopic("moss", 4)
			for _, g := range []string{"pay", "audit"} {
				b.CreateGroup(g)
				for q := range 4 {
					b.Commit(g, "moss", q, int64(100*q))
				}
			}
			r := &real{Cluster: served.Start(t, 1)}
			for _, addr := range []string{ns.Addr, b.Addr} {
				r.tidemark(t, "rocketmq", "diff", addr).want(t, exitPartial, "0 the same, 0 different, 8 only at the broker, 0 only in the cluster", "8 offsets differ")
			}
			r.tidemark(t, "import", "rocketmq://"+ns.Addr, "--execute").want(t, 0, "8 changed", `from the broker "bk-north" as it runs`)
			for _, addr := range []string{ns.Addr, b.Addr} {
				r.tidemark(t, "rocketmq", "diff", addr).want(t, 0, "8 the same, 0 different, 0 only at the broker, 0 only in the cluster", "")
			}
			r.tidemark(t, "commit", "pay", "moss", "2", "207", "--broker", "bk-north", "--execute").want(t, 0, "200 -> 207", "")
			out := r.tidemark(t, "rocketmq", "diff", b.Addr).want(t, exitPartial, "7 the same, 1 different, 0 only at the broker, 0 only in the cluster", "1 offset differs").out
			if !strings.HasSuffix(strings.Join(strings.Fields(out), " "), "pay moss bk-north 2 200 207 +7") {
				t.Errorf("it lists\n%s", out)
			}
			b.Commit("audit", "moss", 0, -1) // what was 0 is none now
			r.tidemark(t, "rocketmq", "diff", b.Addr, "--group", "audit").want(t, exitPartial, "3 the same, 0 different, 0 only at the broker, 1 only in the cluster", "1 offset")
			resetsToRealEnds(t, r, v, b, ns.Addr)
			b.Kill()
			r.tidemark(t, "rocketmq", "diff", b.Addr).want(t, exitUnreachable, "", "cannot be reached")
		})
	}
}

// turning are brokers that hold something else each time they are asked.
type turning struct {
	*fakeBrokers
	held  []string
	asked []time.Time
}

func (b *turning) ConsumerOffsets(_ context.Context, x rocketmq.Broker, o offsetfile.Options) (*offsetfile.File, error) {
	b.asked = append(b.asked, time.Now())
	o.Broker = x.Name
	return offsetfile.Read(strings.NewReader(b.held[min(len(b.asked), len(b.held))-1]), o)
}

// TestDiffWaits until both are equal, or its time is over.
func TestDiffWaits(t *testing.T) {
	table := func(n int) string { return fmt.Sprintf(`{"offsetTable":{"t@g":{0:%d}}}`, n) }
	for wait, c := range map[string]struct {
		held  []string
		asked int
		code  int
	}{
		"0s":     {[]string{table(1), table(5)}, 1, exitPartial},
		"10s":    {[]string{table(1), table(2), table(5)}, 3, 0},
		"2500ms": {[]string{table(1)}, 4, exitPartial},
		"1h":     {[]string{table(5)}, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.set(t, 5, key("g", "t", "bk", 0))
			b := &turning{fakeBrokers: &fakeBrokers{held: map[string]string{"bk": ""}}, held: c.held}
			r := runWith(t.Context(), f, b, "rocketmq", "diff", "bk:10911", "--wait", wait)
			if r.code != c.code || len(b.asked) != c.asked || c.asked > 1 && b.asked[1].Sub(b.asked[0]) != time.Second || strings.Count(r.out, "against index") != 1 {
				t.Errorf("--wait %s: %d times asked, %+v; want %d times and code %d", wait, len(b.asked), r, c.asked, c.code)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		b := &turning{fakeBrokers: &fakeBrokers{held: map[string]string{"bk": ""}}, held: []string{table(1)}}
		r := runWith(ctx, newFake(), b, "rocketmq", "diff", "bk:10911", "--wait", "1h")
		if r.out != "" || r.code == 0 || r.code == exitPartial {
			t.Errorf("when it is ended it gives %+v", r)
		}
	})
}

// runWith runs the program with brokers of a test's own.
func runWith(ctx context.Context, f *fake, b brokers, args ...string) ran {
	var out, errs bytes.Buffer
	st := streams{out: &out, err: &errs, wall: fakeNow, open: func(context.Context, string) (brokers, error) { return b, nil }}
	code := run(ctx, args, st, func([]string) (cluster, error) { return f, nil })
	return ran{code, out.String(), errs.String()}
}

// silentBrokers are brokers of which each that dead names answers with its error.
type silentBrokers struct {
	*fakeBrokers
	dead  map[string]error
	asked []offset.MessageQueue
}

func (b *silentBrokers) MaxOffset(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	b.asked = append(b.asked, mq)
	if err := b.dead[mq.Broker]; err != nil {
		return 0, err
	}
	return b.fakeBrokers.MaxOffset(ctx, mq)
}

// TestDescribeAsksASilentBrokerOnce, since each try may take as long as a call;
// one that answers with an error is asked for each queue.
func TestDescribeAsksASilentBrokerOnce(t *testing.T) {
	for cause, asked := range map[error]int{
		offset.ErrUnreachable:           3,
		context.DeadlineExceeded:        3,
		&rocketmq.RemoteError{Code: 17}: 4,
	} {
		f := newFake()
		f.set(t, 5, key("g", "t", "dead", 0), key("g", "t", "dead", 1), key("g", "t", "well", 0), key("g", "t", "well", 1))
		b := &silentBrokers{fakeBrokers: &fakeBrokers{}, dead: map[string]error{"dead": cause}}
		r := runWith(t.Context(), f, b, "group", "describe", "g", "--rocketmq", "namesrv:9876")
		r.want(t, exitPartial, "190 messages behind", "the ends of 2 queues are not known: --rocketmq: ")
		if len(b.asked) != asked {
			t.Errorf("after %v there were asked %v", cause, b.asked)
		}
	}
}

// interrupting are brokers during whose first answer the program is stopped.
type interrupting struct {
	*fakeBrokers
	stop func()
}

func (b *interrupting) MaxOffset(ctx context.Context, _ offset.MessageQueue) (int64, error) {
	b.stop()
	return 0, fmt.Errorf("%w: %w", offset.ErrUnreachable, ctx.Err())
}

// TestDescribeThatIsStopped ends as stopped, and not as if brokers were silent.
func TestDescribeThatIsStopped(t *testing.T) {
	f := newFake()
	f.set(t, 5, key("g", "t", "b", 0), key("g", "t", "b", 1))
	ctx, stop := context.WithCancel(t.Context())
	r := runWith(ctx, f, &interrupting{&fakeBrokers{}, stop}, "group", "describe", "g", "--rocketmq", "namesrv:9876")
	if r.want(t, exitFailed, "", "stopped by a signal"); r.out != "" {
		t.Errorf("it printed %q", r.out)
	}
}

// TestDiffOfMuch lists what it may and counts all.
func TestDiffOfMuch(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"offsetTable":{`)
	const groups, queues = 200, 100
	for g := range groups {
		fmt.Fprintf(&b, `"t@g%03d":{`, g)
		for q := range queues {
			fmt.Fprintf(&b, "%d:%d,", q, q+1)
		}
		b.WriteString("},")
	}
	b.WriteString("}}")
	f := newFake()
	f.brokers = &fakeBrokers{held: map[string]string{"bk": b.String()}}
	f.set(t, 1, key("g000", "t", "bk", 0), key("g199", "t", "bk", 99))
	r := f.tidemark(t, "rocketmq", "diff", "bk:10911", "--limit", "10000").want(t, exitPartial, "1 the same, 1 different, 19998 only at the broker, 0 only in the cluster", "19999 offsets differ")
	if n := strings.Count(r.out, " bk "); n != 10_000 || !strings.Contains(r.out, "raise --limit") {
		t.Errorf("%d offsets are listed", n)
	}
	f.tidemark(t, "rocketmq", "diff", "bk:10911", "--limit", "0", "--group", "g000").want(t, exitPartial, "1 the same, 0 different, 99 only", "99 offsets")
}

// TestC57RunningBroker: the body that a broker 5.5.0 sends is equal to what was
// imported from its file; its -1 is named, and is no difference.
func TestC57RunningBroker(t *testing.T) {
	f := newFake()
	f.brokers = &fakeBrokers{held: map[string]string{"bk": readFile(t, cases+"C57.5.5.0.code43.body")}}
	f.tidemark(t, "import", cases+"C57.5.5.0.consumerOffset.json", "--broker", "bk", "--execute").want(t, exitPartial, "42 changed", "1 place was skipped")
	r := f.tidemark(t, "rocketmq", "diff", "bk:10911").want(t, 0, "42 the same, 0 different, 0 only at the broker, 0 only in the cluster", "")
	if !strings.Contains(r.out, `"refunds@search_index" queue 0: the offset is negative`) {
		t.Errorf("-1 is not named in\n%s", r.out)
	}
	f.tidemark(t, "import", "rocketmq://bk:10911", "--execute").want(t, exitPartial, "0 changed, 42 left as they were", "1 place was skipped")
	f.set(t, 5, key("search_index", "refunds", "bk", 0))
	r = f.tidemark(t, "rocketmq", "diff", "bk:10911", "--group", "search_index").want(t, exitPartial, "8 the same, 0 different, 0 only at the broker, 1 only in the cluster", "1 offset")
	if got := strings.Join(strings.Fields(r.out), " "); !strings.HasSuffix(got, "search_index refunds bk 0 - 5") {
		t.Errorf("it lists %s", got)
	}
}

// TestCodesOfBrokers: what RocketMQ's side fails with has the code of its kind.
func TestCodesOfBrokers(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{offset.Errorf(offset.ErrUnreachable, "h"), exitUnreachable},
		{fmt.Errorf("h: %w", io.ErrUnexpectedEOF), exitUnreachable},
		{fmt.Errorf("h: %w", context.DeadlineExceeded), exitUnreachable},
		{offset.Errorf(offset.ErrDamaged, "no frame"), exitBadInput},
		{&offsetfile.Fault{Text: "no JSON"}, exitBadInput},
		{&rocketmq.RemoteError{Code: 1}, exitFailed},
		{&rocketmq.RemoteError{Code: 16}, exitRefused},
		{&rocketmq.RemoteError{Code: 17}, exitNotFound},
		{context.Canceled, exitFailed},
	} {
		if err := brokerError("h:1", c.err); codeOf(err) != c.code || !errors.Is(err, c.err) {
			t.Errorf("%v has the code %d, want %d", c.err, codeOf(err), c.code)
		}
	}
}

// TestDiffLeavesTheBrokersOwnGroups out on both sides, unless told to compare them.
func TestDiffLeavesTheBrokersOwnGroups(t *testing.T) {
	f := newFake()
	f.brokers = &fakeBrokers{held: map[string]string{"bk": `{"offsetTable":{"t@g":{0:5},"half@CID_RMQ_SYS_TRANS":{0:7}}}`}}
	f.set(t, 5, key("g", "t", "bk", 0), key("CID_RMQ_SYS_REVIVE_GROUP", "t", "bk", 0))
	f.tidemark(t, "rocketmq", "diff", "bk:10911").want(t, 0, "1 the same, 0 different, 0 only at the broker, 0 only in the cluster", "")
	f.tidemark(t, "rocketmq", "diff", "bk:10911", "--system").want(t, exitPartial, "1 the same, 0 different, 1 only at the broker, 1 only in the cluster", "2 offsets")
}
