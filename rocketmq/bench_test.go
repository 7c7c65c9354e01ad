package rocketmq

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offsetfile"
)

// BenchmarkTable reads a table of a million offsets from a peer on this
// machine: 16 to a topic, 5 topics to a group.
func BenchmarkTable(b *testing.B) {
	const offsets = 1_000_000
	var body strings.Builder
	body.WriteString(`{"offsetTable":{`)
	for i := range offsets / 16 {
		fmt.Fprintf(&body, `"topic-of-some-length-%06d@group-of-some-length-%06d":{`, i, i/5)
		for q := range 16 {
			fmt.Fprintf(&body, "%d:%d,", q, 1_000_000+i)
		}
		body.WriteString("},")
	}
	body.WriteString("}}")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for {
			h, err := nextRequest(c)
			if err != nil {
				return
			}
			c.Write(frameOf(header{Opaque: h.Opaque, Flag: flagResponse}, body.String()))
		}
	}()
	client := &Client{pool: newPool((&net.Dialer{}).DialContext, DefaultTimeout)}
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		f, err := client.ConsumerOffsets(b.Context(), Broker{Addr: l.Addr().String()}, offsetfile.Options{})
		if err != nil || f.Offsets() != offsets {
			b.Fatal(err)
		}
	}
	b.ReportMetric(offsets*float64(b.N)/b.Elapsed().Seconds(), "offsets/s")
	client.Close()
	l.Close()
	<-done
}
