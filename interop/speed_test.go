package interop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// What one round of measuring is.
const (
	speedWarm    = 2 // rounds that do not count: the JVM compiles meanwhile
	speedRounds  = 8
	speedFor     = 8 * time.Second // at full load, and as long at a steady one
	steadyRate   = 1000            // messages a second, about a third of what a broker does on two cores
	commitsOfOne = 2 * time.Second
	manyCallers  = 64
)

// TestSpeed measures what the jar costs: three brokers of one version run side
// by side, two plain and one with the jar, and are loaded in turns. How far the
// two plain ones differ is what the machine makes of it. It prints a table and
// asserts nothing but that there was a load.
func TestSpeed(t *testing.T) {
	if !effort.Soak() {
		t.Skip("a measurement: make bench-broker")
	}
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	f := fleet.Start(t, fleet.Java5, s.Names.Addr)
	plain := func(name string) *track {
		return newTrack(t, f, javaparts.StartBroker(t, s.Version, s.Names, map[string]string{"brokerName": name}, javaparts.Compiled))
	}
	ours := newTrack(t, f, s.Broker(map[string]string{"brokerName": string(stand.Tidemark)}, javaparts.Compiled))
	ours.entries = func() uint64 {
		st, err := s.Cluster.Nodes()[0].Status(ask.Within(t, ask.Patience))
		if err != nil {
			t.Fatal(err)
		}
		return st.DigestIndex
	}
	tracks := []*track{plain("plain"), plain("another"), ours}
	turns := slices.Clone(tracks)
	for round := range speedWarm + speedRounds {
		for _, x := range turns {
			x.round(round >= speedWarm)
		}
		turns = append(turns[1:], turns[0]) // none always comes first
	}
	t.Log("\n" + table(tracks))
}

// track is one of the two brokers, and what was measured there.
type track struct {
	testing.TB
	broker   *javaparts.Broker
	topic    string
	fleet    *fleet.Fleet
	consumed *fleet.Record

	// entries tells how many there are in the cluster's log; nil for a plain broker.
	entries func() uint64

	// One figure a round.
	produce, consume []float64 // messages a second
	log, steadyLog   []float64 // entries a second
	// One figure a call, all rounds together.
	pulls, steady, alone, many []time.Duration
}

func newTrack(t *testing.T, f *fleet.Fleet, b *javaparts.Broker) *track {
	x := &track{TB: t, broker: b, topic: "load-" + b.Name, fleet: f}
	b.CreateTopic(x.topic, 8)
	dial(t, b, remoting.JSON).createGroups("push-"+b.Name, "probe-"+b.Name, "commits-"+b.Name)
	x.consumed = f.Consume(fleet.Push, "push-"+b.Name, x.topic, 2)
	return x
}

// round loads the broker by producers, consumers and a probe that pulls, as fast
// as it goes and at a steady rate; then, when that is over, by two-way commits of
// one caller, and of many.
func (x *track) round(counts bool) {
	x.Helper()
	full, steady := x.load(0), x.load(steadyRate)
	alone, many := x.commits(1), x.commits(manyCallers)
	if !counts {
		return
	}
	x.produce = append(x.produce, full.produced)
	x.consume = append(x.consume, full.consumed)
	x.log = append(x.log, full.entries)
	x.steadyLog = append(x.steadyLog, steady.entries)
	x.pulls = append(x.pulls, full.pulls...)
	x.steady = append(x.steady, steady.pulls...)
	x.alone = append(x.alone, alone...)
	x.many = append(x.many, many...)
}

// loaded is what a broker did under one load.
type loaded struct {
	produced, consumed float64 // messages a second
	entries            float64 // of the cluster's log, a second
	pulls              []time.Duration
}

// load produces and consumes at a rate (0: as fast as it goes) while a probe
// pulls, until all is consumed.
func (x *track) load(rate int) (l loaded) {
	x.Helper()
	name, before := fmt.Sprint("producer-", x.broker.Name, rate), x.consumed.Len()
	sent := x.fleet.Produce(name, x.topic, fleet.Load{Rate: rate, Threads: 8, Bytes: 256})
	first, index, began := sent.Len(), x.index(), time.Now()
	l.pulls = x.pull(speedFor)
	took := time.Since(began).Seconds()
	l.entries = float64(x.index()-index) / took
	l.produced = float64(sent.Len()-first) / took
	l.consumed = float64(x.consumed.Len()-before) / took
	x.fleet.Stop(name)
	x.drain(before + sent.Len() - first)
	if l.produced == 0 || l.consumed == 0 || len(l.pulls) == 0 {
		x.Fatalf("%s: produced %g/s, consumed %g/s, pulled %d", x.broker.Name, l.produced, l.consumed, len(l.pulls))
	}
	return l
}

// index is that of the newest entry of the cluster's log, 0 beside a plain broker.
func (x *track) index() uint64 {
	if x.entries == nil {
		return 0
	}
	return x.entries()
}

// drain waits until so many messages are consumed in all, so that one track's
// backlog is no load beside the other's round.
func (x *track) drain(sent int) {
	x.Helper()
	for end := time.Now().Add(time.Minute); x.consumed.Len() < sent; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			x.Fatalf("%s: %d of %d consumed a minute after the end of the load", x.broker.Name, x.consumed.Len(), sent)
		}
	}
}

// pull asks for messages again and again, with a commit on the back of each
// pull, for so long; and tells how long each answer took.
func (x *track) pull(d time.Duration) (took []time.Duration) {
	x.Helper()
	probe := dial(x.TB, x.broker, remoting.JSON) // a broker closes a connection that is idle for 120 s
	at := make([]int64, 8)
	for end, i := time.Now().Add(d), 0; time.Now().Before(end); i++ {
		q := i % 8
		ext := changed(pullFields("probe-"+x.broker.Name, x.topic, q, at[q]), fmt.Sprintf("sysFlag=5 commitOffset=%d", at[q]))
		began := time.Now()
		f := probe.ask(codePull, ext, nil)
		took = append(took, time.Since(began))
		if n, err := strconv.ParseInt(f.Ext["nextBeginOffset"], 10, 64); err == nil {
			at[q] = n
		}
		time.Sleep(2 * time.Millisecond) // a probe, not a load
	}
	return took
}

// commits sends two-way 15s of callers that wait for each answer.
func (x *track) commits(callers int) (took []time.Duration) {
	x.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex // guards took
	for c := range callers {
		w := dial(x.TB, x.broker, remoting.Binary)
		all.Go(func() {
			var mine []time.Duration
			for n, end := int64(1), time.Now().Add(commitsOfOne); time.Now().Before(end); n++ {
				began := time.Now()
				f, err := w.Call(codeUpdate, commitFields("commits-"+x.broker.Name, x.topic, c, n), nil)
				if err != nil || f.Code != answerOK {
					x.Errorf("a commit: %+v, %v", f, err)
					return
				}
				mine = append(mine, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	all.Wait()
	return took
}

// table compares the tracks with the first, a plain one; the second is plain too.
func table(tracks []*track) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\tplain\tanother plain\tratio\twith the jar\tratio\n")
	row := func(name string, of func(x *track) float64, unit string) {
		first, second, jar := of(tracks[0]), of(tracks[1]), of(tracks[2])
		fmt.Fprintf(w, "%s\t%.4g %s\t%.4g %s\t%.3f\t%.4g %s\t%.3f\n",
			name, first, unit, second, unit, second/first, jar, unit, jar/first)
	}
	row("produced, median of the rounds", func(x *track) float64 { return quantile(x.produce, 0.5) }, "/s")
	row("consumed, median of the rounds", func(x *track) float64 { return quantile(x.consume, 0.5) }, "/s")
	for _, part := range []struct {
		name string
		of   func(x *track) []time.Duration
	}{
		{"pull, as fast as it goes", func(x *track) []time.Duration { return x.pulls }},
		{fmt.Sprintf("pull, %d messages a second", steadyRate), func(x *track) []time.Duration { return x.steady }},
		{"two-way 15, one caller", func(x *track) []time.Duration { return x.alone }},
		{fmt.Sprintf("two-way 15, %d callers", manyCallers), func(x *track) []time.Duration { return x.many }},
	} {
		for _, q := range []float64{0.5, 0.99} {
			row(fmt.Sprintf("%s, p%g", part.name, 100*q), func(x *track) float64 {
				return float64(quantile(part.of(x), q).Microseconds()) / 1000
			}, "ms")
		}
	}
	w.Flush() // into memory
	fmt.Fprintf(&text, "entries in the cluster's log: %.4g a second as fast as it goes, %.4g at %d messages a second\n",
		quantile(tracks[2].log, 0.5), quantile(tracks[2].steadyLog, 0.5), steadyRate)
	return text.String()
}

// quantile gives the value below which that part of all lies.
func quantile[T float64 | time.Duration](all []T, q float64) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
