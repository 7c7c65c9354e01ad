package rocketmq

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// startTable serves a body as the table of all offsets.
func startTable(t *testing.T, body string) (*Client, Broker) {
	t.Helper()
	p := startAnswering(t, func(h header) (int, map[string]string, string) {
		if h.Code != codeAllConsumerOffsets {
			return codeNotSupported, nil, ""
		}
		return 0, nil, body
	})
	return newTestClient(t, p.addr), Broker{Name: "bk", Addr: p.addr}
}

// TestC57TableOfARunningBroker: the body that a broker 5.5.0 sent is what its file is.
func TestC57TableOfARunningBroker(t *testing.T) {
	b, err := os.ReadFile("../offsetfile/testdata/C57.5.5.0.code43.body")
	if err != nil {
		t.Fatal(err)
	}
	client, broker := startTable(t, string(b))
	f, err := client.ConsumerOffsets(t.Context(), broker, offsetfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := offsetfile.ReadPath("../offsetfile/testdata/C57.5.5.0.consumerOffset.json", offsetfile.Options{Broker: "bk"})
	if err != nil {
		t.Fatal(err)
	}
	if f.Hash() != file.Hash() || len(f.Entries) != 8 || f.Offsets() != 42 || f.Report.Bytes != int64(len(b)) {
		t.Errorf("%d entries, %d offsets, %d bytes", len(f.Entries), f.Offsets(), f.Report.Bytes)
	}
	if all := targets(f); !strings.Contains(all, "search_index/refunds/bk/2="+strconv.Itoa(math.MaxInt64)+" ") || !strings.Contains(all, "search_index/refunds/bk/99=5") {
		t.Errorf("offsets are %s", all)
	}
	if s := f.Report.Skipped; len(s) != 1 || s[0].Key != "refunds@search_index" || *s[0].Value != -1 {
		t.Errorf("skipped is %v", s)
	}
}

// TestTableIsTakenWholeOrNotAtAll: garbage and the end of the connection are told apart.
func TestTableIsTakenWholeOrNotAtAll(t *testing.T) {
	for body, is := range map[string]error{
		"":                               offset.ErrInvalid,
		"{}":                             offset.ErrInvalid,
		"<html>":                         offset.ErrInvalid,
		`{"offsetTable":{"t@g":{0:1}}`:   offset.ErrInvalid,
		`{"offsetTable":{"t@g":{0:1.5}}`: offset.ErrInvalid,
		"group,topic,broker,queue,offset\ng,t,b,0,1\n":                   offset.ErrInvalid,
		`{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"t"}:1}}`: offset.ErrInvalid,
		`{"offsetTable":[[{"topic":"t"},1]]}`:                            offset.ErrInvalid, // C24's other dialect
	} {
		client, broker := startTable(t, body)
		f, err := client.ConsumerOffsets(t.Context(), broker, offsetfile.Options{})
		var fault *offsetfile.Fault
		if f != nil || !errors.Is(err, is) || !errors.As(err, &fault) {
			t.Errorf("%q: %v, %v", body, f, err)
		}
	}
	whole := frameOf(header{Opaque: 1, Flag: flagResponse}, `{"offsetTable":{"t@g":{0:1},"t@h":{0:2}}}`)
	for cut := 1; cut < 40; cut++ {
		p := startPeer(t, func(c net.Conn) {
			if _, err := nextRequest(c); err == nil {
				c.Write(whole[:len(whole)-cut])
			}
		})
		f, err := newTestClient(t, p.addr).ConsumerOffsets(t.Context(), Broker{Addr: p.addr}, offsetfile.Options{})
		if f != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("without its last %d bytes: %v, %v", cut, f, err)
		}
		p.stop()
	}
}

func TestEmptyTableIsAnAnswer(t *testing.T) {
	client, broker := startTable(t, `{"offsetTable":{}}`)
	if f, err := client.ConsumerOffsets(t.Context(), broker, offsetfile.Options{}); err != nil || f.Offsets() != 0 {
		t.Errorf("%v, %v", f, err)
	}
}

// TestAnnouncedTableTakesNoMemory: a body of 256 MiB that does not come.
func TestAnnouncedTableTakesNoMemory(t *testing.T) {
	for size, want := range map[uint32]error{MaxTable: io.ErrUnexpectedEOF, MaxTable + 1: offset.ErrDamaged} {
		p := startPeer(t, func(c net.Conn) {
			if _, err := nextRequest(c); err != nil {
				return
			}
			b := frameOf(header{Opaque: 1, Flag: flagResponse}, "")
			text := uint32(len(b) - framePrefix)
			c.Write([]byte{byte((4 + text + size) >> 24), byte((4 + text + size) >> 16), byte((4 + text + size) >> 8), byte(4 + text + size)})
			c.Write(append(b[4:], `{"offsetTable":{`...))
		})
		client := newTestClient(t, p.addr)
		before := allocated()
		_, err := client.ConsumerOffsets(t.Context(), Broker{Addr: p.addr}, offsetfile.Options{})
		if grown := allocated() - before; grown > 4<<20 || !errors.Is(err, want) {
			t.Errorf("announced %d: %d bytes were allocated; %v, want %v", size, grown, err, want)
		}
	}
}

// TestLargeTableMayTakeItsTime: a peer keeps its time as long as 64 KiB come in each.
func TestLargeTableMayTakeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := `{"offsetTable":{"t@g":{0:1}}` + strings.Repeat(" ", 500<<10) + "}"
		pause := 9 * time.Second
		client := piped(t, 10*time.Second, func(_ context.Context, c net.Conn) {
			for {
				h, err := nextRequest(c)
				if err != nil {
					return
				}
				for b := frameOf(header{Opaque: h.Opaque, Flag: flagResponse}, body); len(b) > 0; {
					time.Sleep(pause)
					n := min(64<<10, len(b))
					if _, err := c.Write(b[:n]); err != nil {
						return
					}
					b = b[n:]
				}
			}
		})
		f, err := client.ConsumerOffsets(t.Context(), Broker{Addr: "bk"}, offsetfile.Options{})
		if err != nil || f.Offsets() != 1 {
			t.Errorf("at 64 KiB in 9 of 10 s: %v, %v", f, err)
		}
		pause = 12 * time.Second
		if f, err := client.ConsumerOffsets(t.Context(), Broker{Addr: "bk"}, offsetfile.Options{}); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("at 64 KiB in 12 of 10 s: %v, %v", f, err)
		}
	})
}
