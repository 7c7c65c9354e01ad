package rocketmq

import (
	"context"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// Client asks the brokers that one address leads to: a broker itself, or those
// that a name server knows. Many goroutines may use it at once. Its calls
// return by the end of their context; they may be repeated after any error.
type Client struct{}

// Ends is where the queues of brokers begin and end, as *Client answers it.
// Offsets are those of the messages; all three are 0 or more.
type Ends interface {
	// MinOffset is the offset of the oldest message that the broker has.
	MinOffset(ctx context.Context, mq offset.MessageQueue) (int64, error)
	// MaxOffset is the offset that the queue's next message will get.
	MaxOffset(ctx context.Context, mq offset.MessageQueue) (int64, error)
	// SearchOffset is the offset of the first message stored at that time or later.
	SearchOffset(ctx context.Context, mq offset.MessageQueue, at time.Time) (int64, error)
}

var _ Ends = (*Client)(nil)

// Broker is one process of a broker.
type Broker struct {
	// Name is the broker's name, which its slaves share.
	Name string `json:"name"`
	// Cluster is the RocketMQ cluster that it says it belongs to.
	Cluster string `json:"cluster"`
	// Addr is its address, host:port.
	Addr string `json:"addr"`
	// ID is 0 for a master.
	ID int64 `json:"id,string"`
}

// Open finds out what answers at addr (host:port), a broker or a name server.
func Open(ctx context.Context, addr string) (*Client, error) { return &Client{}, ctx.Err() }

// Close closes the connections; calls under way fail.
func (c *Client) Close() error { return nil }

// Masters lists the masters there are, in the order of names: of a broker's
// address that broker alone, master or not.
func (c *Client) Masters(ctx context.Context) ([]Broker, error) { return nil, ctx.Err() }

// ConsumerOffsets reads the offsets that a broker holds, as they are in its
// memory, with its name as the broker of each.
func (c *Client) ConsumerOffsets(ctx context.Context, b Broker) (*offsetfile.File, error) {
	return nil, ctx.Err()
}

// MinOffset is the offset of the oldest message that the queue's broker has.
func (c *Client) MinOffset(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	return 0, ctx.Err()
}

// MaxOffset is the offset that the queue's next message will get.
func (c *Client) MaxOffset(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	return 0, ctx.Err()
}

// SearchOffset is the offset of the first message stored at that time or later.
func (c *Client) SearchOffset(ctx context.Context, mq offset.MessageQueue, at time.Time) (int64, error) {
	return 0, ctx.Err()
}
