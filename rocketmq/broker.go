package rocketmq

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// The requests that a broker answers, and that are no queue's.
const (
	codeBrokerConfig       = 26 // GET_BROKER_CONFIG
	codeAllConsumerOffsets = 43 // GET_ALL_CONSUMER_OFFSET
)

// identify asks the broker at the address who it is. The request for its
// runtime figures (28) does not tell that; its configuration does, in 4.9 and 5.
func (c *Client) identify(ctx context.Context) (Broker, error) {
	var body []byte
	r := request{code: codeBrokerConfig, what: "its broker name"}
	if err := c.pool.call(ctx, c.addr, r.body(&body)); err != nil {
		return Broker{}, err
	}
	b, err := brokerOf(body)
	if err != nil {
		return b, fmt.Errorf("asking %s for its broker name: %w", c.addr, err)
	}
	b.Addr = c.addr
	return b, nil
}

// brokerOf finds a broker in its configuration, lines of name=value.
func brokerOf(config []byte) (b Broker, err error) {
	id, role := "", ""
	lines := bufio.NewScanner(bytes.NewReader(config))
	lines.Buffer(nil, maxBody)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "=")
		switch name {
		case "brokerName":
			b.Name = value
		case "brokerClusterName":
			b.Cluster = value
		case "brokerId":
			id = value
		case "brokerRole":
			role = value
		}
	}
	if err := lines.Err(); err != nil {
		return b, damaged("its configuration: %v", err)
	}
	if err := offset.ValidateName("brokerName", b.Name, false); err != nil {
		return b, damaged("its configuration: %v", err)
	}
	if b.ID, err = strconv.ParseInt(id, 10, 64); err != nil {
		return b, damaged("its configuration has the brokerId %q", id)
	}
	if b.ID == 0 && role == "SLAVE" { // on its way from one to the other
		b.ID = -1
	}
	return b, nil
}

// ConsumerOffsets reads the offsets that a broker holds in its memory now, as
// offsetfile reads a broker's file: the same is skipped, listed and refused; at
// most MaxTable bytes. o.Broker is the broker name that the keys get, b.Name if
// it is empty. Slaves answer with what they copied from their master, up to a
// minute ago.
func (c *Client) ConsumerOffsets(ctx context.Context, b Broker, o offsetfile.Options) (f *offsetfile.File, err error) {
	if o.Broker == "" {
		o.Broker = b.Name
	}
	o.Format = offsetfile.JSON
	r := request{code: codeAllConsumerOffsets, what: "its consumer offsets", most: MaxTable}
	r.take = func(_ header, body io.Reader) error {
		f, err = offsetfile.Read(body, o)
		return err
	}
	if err := c.pool.call(ctx, b.Addr, r); err != nil {
		return nil, err
	}
	return f, nil
}
