package rocketmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// openAnswering opens a client of what answers by a.
func openAnswering(t *testing.T, a answers) (*Client, *peer, error) {
	t.Helper()
	p := startAnswering(t, a)
	c, err := Open(t.Context(), p.addr)
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, p, err
}

// TestOpenABroker learns from its configuration who it is.
func TestOpenABroker(t *testing.T) {
	for config, want := range map[string]Broker{
		"brokerId=0\nbrokerName=bk-north\nbrokerRole=SYNC_MASTER\nbrokerClusterName=C\nx\n=\n": {Name: "bk-north", Cluster: "C"},
		"brokerName=b\nbrokerId=3\nbrokerRole=SLAVE\n":                                         {Name: "b", ID: 3},
		"brokerName=b\nbrokerId=0\nbrokerRole=SLAVE\n":                                         {Name: "b", ID: -1},
		"brokerId=0\n":                           {},
		"":                                       {},
		"brokerName=b\nbrokerId=x\n":             {},
		"brokerName=b\n":                         {},
		"brokerName=b\x1b[2J\nbrokerId=0\n":      {},
		"brokerName=" + strings.Repeat("b", 300): {},
	} {
		c, p, err := openAnswering(t, func(h header) (int, map[string]string, string) {
			if h.Code != codeBrokerConfig {
				return codeNotSupported, nil, ""
			}
			return 0, nil, config
		})
		if want == (Broker{}) {
			if !errors.Is(err, offset.ErrDamaged) {
				t.Errorf("%q: %v", config, err)
			}
			continue
		}
		want.Addr = p.addr
		if err != nil {
			t.Errorf("%q: %v", config, err)
			continue
		}
		if list, err := c.Brokers(t.Context()); err != nil || len(list) != 1 || list[0] != want {
			t.Errorf("%q: %v, %v; want %v", config, list, err, want)
		}
	}
}

// TestOpenWhatIsNeither tells the peer's refusal.
func TestOpenWhatIsNeither(t *testing.T) {
	for code, is := range map[int]error{codeNoPermission: offset.ErrDenied, codeNotSupported: nil} {
		_, p, err := openAnswering(t, func(header) (int, map[string]string, string) { return code, nil, "" })
		var remote *RemoteError
		if !errors.As(err, &remote) || remote.Code != code || is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), p.addr) {
			t.Errorf("code %d: %v", code, err)
		}
	}
}

// TestOpenANameServer lists the masters it knows, in RocketMQ's own layout.
func TestOpenANameServer(t *testing.T) {
	c, _, err := openAnswering(t, func(h header) (int, map[string]string, string) {
		return 0, nil, `{"brokerAddrTable":{
			"south":{"brokerAddrs":{0:"s:1",1:"s:2"},"brokerName":"south","cluster":"C","enableActingMaster":false},
			"north":{"brokerAddrs":{"0":"n:1"},"brokerName":"north","cluster":"C"},
			"orphan":{"brokerAddrs":{2:"o:1"},"brokerName":"orphan","cluster":"C"}},"clusterAddrTable":{"C":["south","north","orphan"]}}`
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Brokers(t.Context())
	if got, want := fmt.Sprint(list), "[{north C n:1 0} {south C s:1 0}]"; err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if _, err := c.MaxOffset(t.Context(), offset.MessageQueue{Topic: "t"}); !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "names no broker") {
		t.Errorf("a queue without a broker: %v", err)
	}
	if _, err := c.MaxOffset(t.Context(), offset.MessageQueue{Topic: "t", Broker: "orphan"}); !errors.Is(err, offset.ErrNotFound) {
		t.Errorf("a broker without a master: %v", err)
	}
}

// TestOpenSomethingElse asks whether the address is right.
func TestOpenSomethingElse(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(net.Conn)
		is    error
	}{
		"HTTP":     {func(c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, offset.ErrDamaged},
		"hangs up": {func(net.Conn) {}, nil},
	} {
		p := startPeer(t, func(conn net.Conn) {
			if _, err := nextRequest(conn); err == nil {
				c.serve(conn)
			}
		})
		_, err := Open(t.Context(), p.addr)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), "is that the address of a RocketMQ broker") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBadTopics: the queues of a topic are taken whole or not at all.
func TestBadTopics(t *testing.T) {
	for _, body := range []string{"", "[]", `{"offsetTable":[]}`, `{"offsetTable":{{"topic":"t"}:{"maxOffset":1,"minOffset":0}}}`,
		`{"offsetTable":{{"queueId":-1}:{"maxOffset":1,"minOffset":0}}}`, `{"offsetTable":{{"queueId":1}:{"maxOffset":-1,"minOffset":0}}}`,
		`{"offsetTable":{{"queueId":1}:{"maxOffset":1,"minOffset":-1}}}`, `{"offsetTable":{{"queueId":1}:7}}`, `{"offsetTable":{7:{"maxOffset":1}}}`} {
		p := startAnswering(t, func(header) (int, map[string]string, string) { return 0, nil, body })
		if list, err := newTestClient(t, p.addr).TopicEnds(t.Context(), "t"); !errors.Is(err, offset.ErrDamaged) {
			t.Errorf("%q: %v, %v", body, list, err)
		}
	}
}

func TestBadNameServers(t *testing.T) {
	for _, body := range []string{"", "{", `[]`, `{"brokerAddrTable":{"b":{"brokerName":"b","brokerAddrs":{"x":"a:1"}}}}`,
		`{"brokerAddrTable":{"b":{"brokerName":"","brokerAddrs":{0:"a:1"}}}}`, `{"brokerAddrTable":{"b":{"brokerName":"a\u001bb","brokerAddrs":{0:"a:1"}}}}`,
		`{"brokerAddrTable":{"b":{"brokerName":"b","brokerAddrs":{0:1}}}}`, `{"brokerAddrTable":` + strings.Repeat(`{"a":`, 70)} {
		if _, _, err := openAnswering(t, func(header) (int, map[string]string, string) { return 0, nil, body }); !errors.Is(err, offset.ErrDamaged) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// TestMasterThatMoved: the name server is asked again when a master cannot be reached.
func TestMasterThatMoved(t *testing.T) {
	broker := startAnswering(t, func(header) (int, map[string]string, string) { return 0, map[string]string{"offset": "7"}, "" })
	var at atomic.Value
	at.Store(nobody)
	c, _, err := openAnswering(t, func(header) (int, map[string]string, string) {
		return 0, nil, fmt.Sprintf(`{"brokerAddrTable":{"bk":{"brokerName":"bk","brokerAddrs":{0:%q}}}}`, at.Load())
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.MaxOffset(t.Context(), moss); !errors.Is(err, offset.ErrUnreachable) {
		t.Errorf("while it is away: %v", err)
	}
	at.Store(broker.addr)
	if n, err := c.MaxOffset(t.Context(), moss); err != nil || n != 7 {
		t.Errorf("once it is back: %d, %v", n, err)
	}
}

// TestListOfANameServerGrowsOld: a master that became a slave answers on, and is
// not asked for long.
func TestListOfANameServerGrowsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		master, up := "first:1", true
		serve := func(addr string, c net.Conn) {
			for {
				h, err := nextRequest(c)
				if err != nil || !up && addr == "names:1" {
					return
				}
				answer := header{Opaque: h.Opaque, Flag: flagResponse, Fields: map[string]string{"offset": map[string]string{"first:1": "1", "second:1": "2"}[addr]}}
				body := ""
				if h.Code == codeClusterInfo {
					body = fmt.Sprintf(`{"brokerAddrTable":{"bk":{"brokerName":"bk","brokerAddrs":{0:%q}}}}`, master)
				}
				c.Write(frameOf(answer, body))
			}
		}
		var wg sync.WaitGroup
		c, err := Open(t.Context(), "names:1", WithDialer(func(_ context.Context, _, addr string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			wg.Go(func() {
				defer theirs.Close()
				serve(addr, theirs)
			})
			return ours, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		asked := func(want int64) {
			t.Helper()
			if n, err := c.MaxOffset(t.Context(), moss); err != nil || n != want {
				t.Errorf("%d, %v; want %d", n, err, want)
			}
		}
		asked(1)
		master = "second:1"
		asked(1) // not known yet
		time.Sleep(maxAge + time.Second)
		asked(2)
		up, master = false, "first:1"
		time.Sleep(maxAge + time.Second)
		asked(2) // the list that there is
		c.Close()
		wg.Wait()
	})
}

// endsPeer answers for queue 1 of the topic moss, with the messages 3 to 9, and
// 0 for all that it does not have, as brokers do.
func endsPeer(search map[string]string, asked *atomic.Int64) answers {
	return func(h header) (int, map[string]string, string) {
		asked.Add(1)
		has := h.Fields["topic"] == "moss" && h.Fields["queueId"] == "1"
		n := "0"
		switch {
		case h.Code == codeTopicStats && h.Fields["topic"] == "moss":
			return 0, nil, `{"offsetTable":{{"brokerName":"bk","queueId":2,"topic":"moss"}:{"maxOffset":0,"minOffset":0},{"brokerName":"bk","queueId":1,"topic":"moss"}:{"lastUpdateTimestamp":6000,"maxOffset":9,"minOffset":3}}}`
		case h.Code == codeTopicStats:
			return codeNoTopic, nil, ""
		case !has:
		case h.Code == codeMinOffset:
			n = "3"
		case h.Code == codeMaxOffset:
			n = "9"
		case h.Code == codeSearchOffset:
			n = search[h.Fields["timestamp"]]
		}
		return 0, map[string]string{"offset": n}, ""
	}
}

// TestNothingIsNotZero: a broker's 0 for what it does not have is no end.
func TestNothingIsNotZero(t *testing.T) {
	var asked atomic.Int64
	p := startAnswering(t, endsPeer(nil, &asked))
	c := newTestClient(t, p.addr)
	for mq, want := range map[offset.MessageQueue]int64{
		{Topic: "moss", QueueID: 1}: 9, {Topic: "moss", QueueID: 2}: 0, {Topic: "moss", QueueID: 3}: -1, {Topic: "mos", QueueID: 1}: -1,
	} {
		n, err := c.MaxOffset(t.Context(), mq)
		if want < 0 && !errors.Is(err, offset.ErrNotFound) || want >= 0 && (err != nil || n != want) {
			t.Errorf("%v: %d, %v; want %d", mq, n, err, want)
		}
	}
	for _, mq := range []offset.MessageQueue{{}, {Topic: "moss", QueueID: -1}, {Topic: "a\nb"}} {
		before := asked.Load()
		if n, err := c.MaxOffset(t.Context(), mq); !errors.Is(err, offset.ErrInvalid) || asked.Load() != before {
			t.Errorf("%v: %d, %v", mq, n, err)
		}
	}
	if ends, err := c.TopicEnds(t.Context(), "moss"); err != nil || short(ends) != "moss/bk/1 3..9, moss/bk/2 0..0" {
		t.Errorf("%v, %v", ends, err)
	}
}

// TestSearch asks old brokers, which answer the nearest message, for the
// millisecond before, and never gives what was deleted.
func TestSearch(t *testing.T) {
	at := time.UnixMilli(5000)
	for _, c := range []struct {
		version int
		at      time.Time
		search  map[string]string
		want    int64
	}{
		{513, at, map[string]string{"5000": "7", "4999": "6"}, 7},
		{513, at.Add(1), map[string]string{"5000": "7", "5001": "8"}, 8}, // no message of 5000 is as late
		{513, at, map[string]string{"5000": "0"}, 3},
		{407, at, map[string]string{"5000": "7", "4999": "6"}, 6},
		{407, time.UnixMilli(6000), map[string]string{"6000": "8", "5999": "8"}, 8}, // the newest, at 6000
		{407, time.UnixMilli(6001), map[string]string{"6001": "8", "6000": "8"}, 9},
	} {
		var asked atomic.Int64
		p := startVersion(t, c.version, endsPeer(c.search, &asked))
		n, err := newTestClient(t, p.addr).SearchOffset(t.Context(), moss, c.at)
		if err != nil || n != c.want {
			t.Errorf("version %d at %v: %d, %v; want %d", c.version, c.at.UnixNano(), n, err, c.want)
		}
	}
}
