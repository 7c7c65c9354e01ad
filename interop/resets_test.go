package interop

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
	"github.com/tidemark-mq/tidemark/offset"
)

// Codes that only these tests send.
const (
	codeSend      = 10
	codePop       = 200050
	codeMaxOffset = 30
	answerMoved   = 21
)

// resetQueues is how many queues the topic of a reset has.
const resetQueues = 2

// patient is a broker that does not turn senders away on a loaded machine.
var patient = map[string]string{"waitTimeMillsInSendQueue": "30000", "osPageCacheBusyTimeOutMills": "30000"}

// resetTrial is a topic of which a group of one kind of consumer has consumed
// everything, and the way to wind it back.
type resetTrial struct {
	testing.TB
	s        *stand.Stand
	b        *javaparts.Broker
	kind     fleet.Kind
	topic    string
	group    string
	consumed *fleet.Record
	sent     int // to each queue
	number   int // of the next message
	// marks are the times, Unix milliseconds, behind which messages from an
	// offset on were stored, and before which those below it were.
	marks map[int64]int64
}

// trials makes a topic and a group for each kind, and has all consume n
// messages of each queue.
func trials(t *testing.T, s *stand.Stand, b *javaparts.Broker, f *fleet.Fleet, n int, kinds ...fleet.Kind) (list []*resetTrial) {
	t.Helper()
	for _, k := range kinds {
		x := &resetTrial{TB: t, s: s, b: b, kind: k, topic: "t-" + string(k), group: "g-" + string(k)}
		b.CreateTopic(x.topic, resetQueues)
		b.CreateGroup(x.group)
		if k == fleet.POP {
			b.PopMode(x.group, x.topic)
		}
		x.consumed = f.Consume(k, x.group, x.topic, 1)
		list = append(list, x)
	}
	for _, x := range list {
		x.marks = make(map[int64]int64)
		for _, at := range []int{38, 48, 58, n} { // where TestResetsAreFollowed goes by time
			x.send(at - x.sent)
			time.Sleep(20 * time.Millisecond)
			x.marks[int64(at)] = time.Now().UnixMilli()
			time.Sleep(20 * time.Millisecond)
		}
	}
	for _, x := range list {
		x.await("all is consumed", func() error { return x.deliveredFrom(0, 0) })
		x.awaitStored()
	}
	return list
}

// send sends n more messages to each queue, over one connection.
func (x *resetTrial) send(n int) {
	x.Helper()
	w := dial(x, x.b, remoting.JSON)
	for range n {
		for q := range resetQueues {
			_, err := w.Queue(codeSend, map[string]string{
				"producerGroup": "producer", "topic": x.topic, "queueId": strconv.Itoa(q), "defaultTopic": "TBW102",
				"defaultTopicQueueNums": "4", "sysFlag": "0", "bornTimestamp": strconv.FormatInt(time.Now().UnixMilli(), 10),
				"flag": "0", "properties": "", "reconsumeTimes": "0", "unitMode": "false",
			}, fmt.Appendf(nil, "%d reset", x.number))
			w.must(err)
			x.number++
		}
		x.sent++
	}
	w.must(w.Flush())
	for range n * resetQueues {
		f, err := w.Receive()
		w.must(err)
		if f.Code != answerOK {
			w.Fatalf("a message was answered by %+v", f)
		}
	}
}

// await waits until a condition holds.
func (x *resetTrial) await(what string, holds func() error) {
	x.Helper()
	var err error
	for end := time.Now().Add(javaparts.Patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = holds(); err == nil {
			return
		}
	}
	x.Fatalf("%s: not so after %v that %s: %v\n%s", x.kind, javaparts.Patience, what, err, tail(x.b.Log()))
}

// awaitKnown waits until the broker answers with an offset for each queue.
func (x *resetTrial) awaitKnown(offset int64) {
	x.Helper()
	w := dial(x, x.b, remoting.JSON)
	x.await("the broker has heard of the reset", func() error {
		for q := range resetQueues {
			if got := w.query(x.group, x.topic, q); got != offset {
				return fmt.Errorf("it answers %d for queue %d, not %d", got, q, offset)
			}
		}
		return nil
	})
}

// deliveredFrom tells whether each queue was delivered whole from an offset on,
// by what was noted behind the first skip notes.
func (x *resetTrial) deliveredFrom(skip int, from int64) error {
	came := make(map[string]bool)
	for _, m := range x.consumed.All()[skip:] {
		came[m.Queue+" "+strconv.FormatInt(m.Offset, 10)] = true
	}
	for q := range resetQueues {
		for o := from; o < int64(x.sent); o++ {
			if !came[fmt.Sprintf("%s/%d %d", x.b.Name, q, o)] {
				return fmt.Errorf("offset %d of queue %d has not come", o, q)
			}
		}
	}
	return nil
}

// stored is what the cluster has for a queue of the group.
func (x *resetTrial) stored(queue int) (offset.KeyState, error) {
	key := offset.Key{Group: x.group, MessageQueue: offset.MessageQueue{Topic: x.topic, Broker: x.b.Name, QueueID: int32(queue)}}
	states, _, err := x.s.Cluster.Client().Fetch(x.Context(), offset.ReadAt{}, key)
	if err != nil {
		return offset.KeyState{}, err
	}
	return states[0], nil
}

// awaitStored waits until the cluster has the end of each queue.
func (x *resetTrial) awaitStored() {
	x.Helper()
	x.await("the end is stored", func() error {
		for q := range resetQueues {
			if got, err := x.stored(q); err != nil || got.Position.Offset != int64(x.sent) {
				return fmt.Errorf("queue %d is at %+v, not %d: %v", q, got.Position, x.sent, err)
			}
		}
		return nil
	})
}

// wind is a way to move a group.
type wind struct {
	name string
	to   func(x *resetTrial, offset int64)
}

// winds are the ways that operators have.
var winds = []wind{
	{"tidemark group reset", func(x *resetTrial, offset int64) {
		x.s.Cluster.Tidemark("group", "reset", x.group, "--topic", x.topic, "--to-offset", strconv.FormatInt(offset, 10), "--execute").
			Want(x, 0, "", "")
	}},
	{"mqadmin by queue", func(x *resetTrial, offset int64) {
		for q := range resetQueues {
			x.s.Admin("resetOffsetByTime", "-g", x.group, "-t", x.topic, "-b", x.b.Addr, "-q", strconv.Itoa(q),
				"-o", strconv.FormatInt(offset, 10), "-s", "now")
		}
	}},
	{"mqadmin by time", func(x *resetTrial, offset int64) {
		x.s.Admin("resetOffsetByTime", "-g", x.group, "-t", x.topic, "-s", strconv.FormatInt(x.marks[offset], 10))
	}},
}

// followed moves all to an offset, with messages on their way before and after,
// and waits until each has gone on there.
func followed(t *testing.T, list []*resetTrial, w wind, offset int64, then func()) {
	t.Helper()
	skip := make([]int, len(list))
	for i, x := range list {
		x.send(10)
		skip[i] = x.consumed.Len()
		w.to(x, offset)
	}
	then()
	start := time.Now()
	for i, x := range list {
		x.send(10)
		x.await(fmt.Sprintf("it is delivered again from %d on", offset), func() error { return x.deliveredFrom(skip[i], offset) })
		t.Logf("%s: all again after %v", x.kind, time.Since(start))
		x.awaitStored()
	}
}

// TestResetsAreFollowed moves live consumers of every kind while messages come:
// each goes on at the offset, also when the broker, or the cluster's leader, is
// killed right after the answer, and when the broker is killed right after the
// pull that took the reset.
func TestResetsAreFollowed(t *testing.T) {
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	b := s.Broker(patient)
	f := fleet.Start(t, fleet.Java5, s.Names.Addr)
	list := trials(t, s, b, f, 100, fleet.Push, fleet.Orderly, fleet.Lite, fleet.POP)
	for i, w := range winds[:effort.Of(1, len(winds))] {
		t.Run(w.name, func(t *testing.T) { followed(t, list, w, int64(60-i), func() {}) })
		if i == 0 && !effort.Scenarios() {
			return
		}
		t.Run(w.name+", broker killed", func(t *testing.T) {
			followed(t, list, w, int64(50-i), func() {
				b.Kill()
				b.Start()
			})
		})
		t.Run(w.name+", leader killed", func(t *testing.T) {
			leader := s.Cluster.Leader()
			followed(t, list, w, int64(40-i), func() { s.Cluster.Sh("kill", leader) })
			s.Cluster.Sh("start", leader)
		})
	}
	t.Run("broker killed after the pull", func(t *testing.T) { killedAfterPull(t, list[0], f) })
	t.Run("forward", func(t *testing.T) {
		for _, x := range list {
			x.forward(f, 7, func() { winds[0].to(x, int64(x.sent-7)) })
			if x == list[0] {
				x.forward(f, 5, func() { x.committedByATool(int64(x.sent - 5)) })
			}
			if effort.Soak() {
				x.forward(f, 0, func() { s.Admin("skipAccumulatedMessage", "-g", x.group, "-t", x.topic) })
			}
		}
	})
}

// committedByATool commits as cloneGroupOffset and resetOffsetByTimeOld do: two-way,
// over a connection that has read nothing. That the group was moved before, and
// followed, does not close its queues to a tool.
func (x *resetTrial) committedByATool(offset int64) {
	x.Helper()
	w := dial(x, x.b, remoting.JSON)
	for q := range resetQueues {
		f := w.ask(codeUpdate, commitFields(x.group, x.topic, q, offset), nil)
		if f.Code != answerOK || f.Remark != "" {
			x.Fatalf("a tool's commit was answered by %d %q", f.Code, f.Remark)
		}
		if got, err := x.stored(q); err != nil || got.Position.Offset != offset {
			x.Fatalf("a tool's commit was acknowledged, but the cluster has %+v, not %d: %v", got.Position, offset, err)
		}
	}
}

// TestResetsAreFollowedThroughAProxy: a proxy in cluster mode sends what one
// classic client says over any of its connections. Who is moved follows once,
// and is believed from then on.
func TestResetsAreFollowedThroughAProxy(t *testing.T) {
	apart(t)
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	b := s.Broker(patient)
	f := fleet.Start(t, fleet.Java5, javaparts.StartProxy(s, s.Names).Remoting)
	list := trials(t, s, b, f, 100, fleet.Push, fleet.Lite)
	for i, w := range winds[:effort.Of(1, len(winds))] {
		followed(t, list, w, int64(60-i), func() {})
		for range 3 { // commits over each of the connections
			for _, x := range list {
				x.send(10)
				x.awaitStored()
			}
		}
		if got, want := b.Runtime()["tidemarkResetsAssigned"], strconv.Itoa((i+1)*len(list)*resetQueues); got != want {
			t.Errorf("%s: %s resets were assigned so far, not %s: consumers were moved again", w.name, got, want)
		}
	}
}

// forward moves a group over messages that came while nobody consumed: who
// starts then gets what is left before the end, and what comes, and nothing else.
func (x *resetTrial) forward(f *fleet.Fleet, left int, move func()) {
	x.Helper()
	f.Stop(x.group)
	x.send(50)
	move()
	x.awaitKnown(int64(x.sent - left))
	seen := x.consumed.Len()
	x.consumed = f.Consume(x.kind, x.group, x.topic, 1)
	x.send(2)
	x.await("it goes on at the offset", func() error { return x.deliveredFrom(seen, int64(x.sent-2-left)) })
	if n := x.consumed.Len() - seen; n != (left+2)*resetQueues {
		x.Errorf("%s: %d messages came from the offset on, of %d", x.kind, n, (left+2)*resetQueues)
	}
	x.awaitStored()
}

// killedAfterPull has a pull of its own take a reset, with an old offset on its
// back, and kills the broker: who starts then begins at the reset.
func killedAfterPull(t *testing.T, x *resetTrial, f *fleet.Fleet) {
	f.Stop(x.group)
	winds[0].to(x, 20)
	w := dial(x, x.b, remoting.JSON)
	for q := range resetQueues {
		ext := pullFields(x.group, x.topic, q, int64(x.sent))
		ext["sysFlag"], ext["commitOffset"] = "5", strconv.Itoa(x.sent) // with a commit
		x.await("the pull takes the reset", func() error {
			if got := w.ask(codePull, ext, nil); got.Code != answerMoved || got.Ext["nextBeginOffset"] != "20" {
				return fmt.Errorf("a pull was answered by %d %v", got.Code, got.Ext)
			}
			return nil
		})
	}
	x.b.Kill()
	x.b.Start()
	seen := x.consumed.Len()
	x.consumed = f.Consume(x.kind, x.group, x.topic, 1)
	x.await("it is delivered again from 20 on", func() error { return x.deliveredFrom(seen, 20) })
	x.awaitStored()
}

// TestPushConsumersOf49FollowResets: a broker 4.9 has no resets on its side, so
// push consumers are told by a request, as mqadmin's resets tell them.
func TestPushConsumersOf49FollowResets(t *testing.T) {
	if !effort.Soak() {
		return // the clients sleep for 10 s before they follow
	}
	s := stand.New(t, javaparts.RocketMQ4, stand.Tidemark)
	b := s.Broker(patient)
	f := fleet.Start(t, fleet.Java4, s.Names.Addr)
	list := trials(t, s, b, f, 100, fleet.Push, fleet.Orderly)
	followed(t, list, winds[0], 60, func() {})
	followed(t, list, winds[0], 40, func() {
		b.Kill()
		b.Start()
	})
}
