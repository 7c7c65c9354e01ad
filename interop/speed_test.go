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

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// What one round of measuring is.
const (
	speedRounds  = 8
	speedFor     = 10 * time.Second // under load; then as much again of commits
	commitsOfOne = 3 * time.Second
	manyCallers  = 64
)

// TestSpeed measures what the jar costs: two brokers of one version run side by
// side, one plain and one with the jar, and are loaded in turns. It prints a
// table and asserts nothing but that there was a load.
func TestSpeed(t *testing.T) {
	if !effort.Soak() {
		t.Skip("a measurement: make bench-broker")
	}
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	f := fleet.Start(t, fleet.Java5, s.Names.Addr)
	plain := javaparts.StartBroker(t, s.Version, s.Names, map[string]string{"brokerName": string(stand.Plain)})
	ours := s.Broker(map[string]string{"brokerName": string(stand.Tidemark)})
	tracks := []*track{newTrack(t, f, plain), newTrack(t, f, ours)}
	for round := range speedRounds + 1 {
		for _, x := range tracks {
			x.round(round > 0) // the first warms up
		}
		slices.Reverse(tracks) // neither always comes first
	}
	if tracks[0].broker != plain {
		slices.Reverse(tracks)
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
	probe    wire

	// One figure a round.
	produce, consume []float64 // messages a second
	// One figure a call, all rounds together.
	pulls, alone, many []time.Duration
}

func newTrack(t *testing.T, f *fleet.Fleet, b *javaparts.Broker) *track {
	x := &track{TB: t, broker: b, topic: "load-" + b.Name, fleet: f, probe: dial(t, b, remoting.JSON)}
	b.CreateTopic(x.topic, 8)
	x.probe.createGroups("push-"+b.Name, "probe-"+b.Name, "commits-"+b.Name)
	x.consumed = f.Consume(fleet.Push, "push-"+b.Name, x.topic, 2)
	return x
}

// round loads the broker by producers, consumers and a probe that pulls; then,
// when that is over, by two-way commits of one caller, and of many.
func (x *track) round(counts bool) {
	x.Helper()
	name, before := "producer-"+x.broker.Name, x.consumed.Len()
	sent := x.fleet.Produce(name, x.topic, fleet.Load{Threads: 8, Bytes: 256})
	first, began := sent.Len(), time.Now()
	pulls := x.pull(speedFor)
	produced, took := sent.Len()-first, time.Since(began).Seconds()
	consumed := x.consumed.Len() - before
	x.fleet.Stop(name)
	x.drain(name, sent)
	alone, many := x.commits(1), x.commits(manyCallers)
	if produced == 0 || consumed == 0 || len(pulls) == 0 {
		x.Fatalf("%s: produced %d, consumed %d, pulled %d", x.broker.Name, produced, consumed, len(pulls))
	}
	if counts {
		x.produce = append(x.produce, float64(produced)/took)
		x.consume = append(x.consume, float64(consumed)/took)
		x.pulls = append(x.pulls, pulls...)
		x.alone = append(x.alone, alone...)
		x.many = append(x.many, many...)
	}
}

// drain waits until all that was ever sent is consumed, so that one track's
// backlog is no load beside the other's round.
func (x *track) drain(name string, sent *fleet.Record) {
	x.Helper()
	for end := time.Now().Add(time.Minute); x.consumed.Len() < sent.Len(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			x.Fatalf("%s: %d of %d consumed a minute after the end of the load", name, x.consumed.Len(), sent.Len())
		}
	}
}

// pull asks for messages again and again, with a commit on the back of each
// pull, for so long; and tells how long each answer took.
func (x *track) pull(d time.Duration) (took []time.Duration) {
	x.Helper()
	at := make([]int64, 8)
	for end, i := time.Now().Add(d), 0; time.Now().Before(end); i++ {
		q := i % 8
		ext := changed(pullFields("probe-"+x.broker.Name, x.topic, q, at[q]), fmt.Sprintf("sysFlag=5 commitOffset=%d", at[q]))
		began := time.Now()
		f := x.probe.ask(codePull, ext, nil)
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

// table compares the tracks, the plain one first.
func table(tracks []*track) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\tplain\twith the jar\tratio\n")
	row := func(name string, of func(x *track) float64, unit string) {
		p, j := of(tracks[0]), of(tracks[1])
		fmt.Fprintf(w, "%s\t%.4g %s\t%.4g %s\t%.3f\n", name, p, unit, j, unit, j/p)
	}
	row("produced, median of the rounds", func(x *track) float64 { return quantile(x.produce, 0.5) }, "/s")
	row("consumed, median of the rounds", func(x *track) float64 { return quantile(x.consume, 0.5) }, "/s")
	for _, part := range []struct {
		name string
		of   func(x *track) []time.Duration
	}{
		{"pull", func(x *track) []time.Duration { return x.pulls }},
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
	return text.String()
}

// quantile gives the value below which that part of all lies.
func quantile[T float64 | time.Duration](all []T, q float64) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
