package rocketmq

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// TestRealBrokers asks real name servers and brokers everything there is to ask.
func TestRealBrokers(t *testing.T) {
	for _, v := range []javaparts.Version{javaparts.RocketMQ5, javaparts.RocketMQ4} {
		t.Run(string(v), func(t *testing.T) {
			ns := javaparts.StartNameServer(t, v)
			north := javaparts.StartBroker(t, v, ns, map[string]string{"brokerName": "bk-north"})
			r := &realTest{t, v, north}
			byName, bySelf := r.open(ns.Addr), r.open(north.Addr)
			r.brokers(byName, bySelf)
			r.ends(byName, bySelf)
			r.offsets(byName, bySelf)
			r.slave(ns, byName)
		})
	}
}

type realTest struct {
	*testing.T
	version javaparts.Version
	north   *javaparts.Broker
}

func (r *realTest) open(addr string) *Client {
	r.Helper()
	c, err := Open(r.Context(), addr)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// brokers: from either address the same broker is found.
func (r *realTest) brokers(clients ...*Client) {
	want := Broker{Name: "bk-north", Cluster: "interop", Addr: r.north.Addr}
	for _, c := range clients {
		if got, err := c.Brokers(r.Context()); err != nil || len(got) != 1 || got[0] != want {
			r.Errorf("%s knows %+v, %v; want %+v", c.addr, got, err, want)
		}
	}
}

// ends: of queues with and without messages, and of what is not there, for
// which brokers answer 0.
func (r *realTest) ends(clients ...*Client) {
	r.north.CreateTopic("moss", 3)
	for range 3 {
		r.north.Send("moss", 1, []byte("x"))
	}
	r.until(func() error { // a name server hears of a topic a little later
		ends, err := clients[0].TopicEnds(r.Context(), "moss")
		if got := short(ends); err == nil && got != "moss/bk-north/0 0..0, moss/bk-north/1 0..3, moss/bk-north/2 0..0" {
			return errors.New(got)
		}
		return err
	})
	now := time.Now()
	for _, c := range clients {
		r.queue(c, 1, 0, 3, map[time.Time]int64{time.Unix(0, 0): 0, now.Add(time.Millisecond): 3, now.Add(time.Hour): 3})
		r.queue(c, 2, 0, 0, map[time.Time]int64{time.Unix(0, 0): 0, now: 0})
		for _, mq := range []offset.MessageQueue{{Topic: "moss", QueueID: 3}, {Topic: "mos"}, {Topic: "moss", Broker: "bk-south"}} {
			for name, ask := range asks(c) {
				if n, err := ask(r.Context(), mq); !errors.Is(err, offset.ErrNotFound) {
					r.Errorf("%s of %v is %d, %v; want not found", name, mq, n, err)
				}
			}
		}
		if _, err := c.TopicEnds(r.Context(), "mos"); !errors.Is(err, offset.ErrNotFound) {
			r.Errorf("the ends of a topic that is not there: %v", err)
		}
	}
}

// short gives ends in one line.
func short(ends []QueueEnds) string {
	var list []string
	for _, e := range ends {
		list = append(list, fmt.Sprintf("%s/%s/%d %d..%d", e.Queue.Topic, e.Queue.Broker, e.Queue.QueueID, e.Min, e.Max))
	}
	return strings.Join(list, ", ")
}

func asks(e Ends) map[string]func(context.Context, offset.MessageQueue) (int64, error) {
	return map[string]func(context.Context, offset.MessageQueue) (int64, error){
		"MinOffset": e.MinOffset,
		"MaxOffset": e.MaxOffset,
		"SearchOffset": func(ctx context.Context, mq offset.MessageQueue) (int64, error) {
			return e.SearchOffset(ctx, mq, time.Now())
		},
	}
}

func (r *realTest) queue(c *Client, queue int32, least, most int64, times map[time.Time]int64) {
	r.Helper()
	for _, broker := range []string{"", "bk-north"} {
		mq := offset.MessageQueue{Topic: "moss", Broker: broker, QueueID: queue}
		if n, err := c.MinOffset(r.Context(), mq); err != nil || n != least {
			r.Errorf("%v begins at %d, %v; want %d", mq, n, err, least)
		}
		if n, err := c.MaxOffset(r.Context(), mq); err != nil || n != most {
			r.Errorf("%v ends at %d, %v; want %d", mq, n, err, most)
		}
		for at, want := range times {
			if n, err := c.SearchOffset(r.Context(), mq, at); err != nil || n != want {
				r.Errorf("%v at %v is %d, %v; want %d", mq, at, n, err, want)
			}
		}
	}
}

// offsets: what a broker was sent is what is read, the odd numbers of C57 too.
func (r *realTest) offsets(clients ...*Client) {
	for _, group := range []string{"pay", "audit-2"} {
		r.north.CreateGroup(group)
		for q := range int64(3) {
			r.north.Commit(group, "moss", int(q), 100*q)
		}
	}
	r.north.Commit("pay", "moss", 99, math.MaxInt64)
	r.north.Commit("audit-2", "moss", 0, -1)
	want := "audit-2/moss/bk-north/1=100 audit-2/moss/bk-north/2=200 pay/moss/bk-north/0=0 pay/moss/bk-north/1=100 pay/moss/bk-north/2=200 pay/moss/bk-north/99=9223372036854775807"
	for _, c := range clients {
		brokers, err := c.Brokers(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		f, err := c.ConsumerOffsets(r.Context(), brokers[0], offsetfile.Options{})
		if err != nil {
			r.Fatal(err)
		}
		if got := targets(f); got != want {
			r.Errorf("%s holds %s\nwant %s", c.addr, got, want)
		}
		if s := f.Report.Skipped; len(s) != 1 || s[0].Key != "moss@audit-2" || *s[0].Queue != 0 || *s[0].Value != -1 {
			r.Errorf("skipped is %v, want the offset -1", s)
		}
	}
}

// slave: a slave says what it is; a name server's list has masters alone.
func (r *realTest) slave(ns *javaparts.NameServer, byName *Client) {
	slave := javaparts.StartBroker(r.T, r.version, ns, map[string]string{"brokerName": "bk-north", "brokerId": "1", "brokerRole": "SLAVE"})
	want := Broker{Name: "bk-north", Cluster: "interop", Addr: slave.Addr, ID: 1}
	if got, err := r.open(slave.Addr).Brokers(r.Context()); err != nil || len(got) != 1 || got[0] != want {
		r.Errorf("a slave says that it is %+v, %v; want %+v", got, err, want)
	}
	r.brokers(byName)
}

// targets gives the offsets of a file in one line.
func targets(f *offsetfile.File) string {
	var list []string
	for t := range f.All() {
		list = append(list, fmt.Sprintf("%s=%d", t.Key, t.Offset))
	}
	return strings.Join(list, " ")
}

// until waits until f has no error any more.
func (r *realTest) until(f func() error) {
	r.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			r.Fatal(err)
		}
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}
