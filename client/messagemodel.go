package client

import (
	"context"

	"github.com/tidemark-mq/tidemark/offset"
)

// MessageModel is how the messages of a topic are shared among the consumers
// of a group: RocketMQ's enum of that name. The zero value is RocketMQ's default.
type MessageModel uint8

// The models.
const (
	// Clustering: each message goes to one consumer of the group; the offsets
	// are the group's, and live in the cluster.
	Clustering MessageModel = iota
	// Broadcasting: each message goes to every consumer; the offsets are each
	// consumer's own, and live where it runs.
	Broadcasting
)

// Store is an OffsetStore that is closed in the end, which persists the rest.
// RemoteStore and LocalFileStore are.
type Store interface {
	OffsetStore
	// Close persists what changed, and returns what it could not.
	Close(ctx context.Context) error
}

var (
	_ Store = (*RemoteStore)(nil)
	_ Store = (*LocalFileStore)(nil)
)

// StoreConfig is what a store of either model is made of; what the other model
// needs is not looked at.
type StoreConfig struct {
	Group string
	// Client is for Clustering.
	Client *Client
	// ClientID is for Broadcasting. It must be the same after a restart;
	// LocalClientID gives RocketMQ's.
	ClientID string
	// Options are those of both; what concerns the other model changes nothing.
	Options []StoreOption
}

// NewStore returns the store of a message model, as RocketMQ chooses it: a
// RemoteStore for Clustering, a LocalFileStore for Broadcasting. It does no
// I/O; Load the store before use. The error wraps offset.ErrInvalid.
func NewStore(model MessageModel, c StoreConfig) (Store, error) {
	switch model {
	case Clustering:
		if c.Client == nil {
			return nil, offset.Errorf(offset.ErrInvalid, "clustering needs a Client; make one by New")
		}
		s, err := NewRemoteStore(c.Client, c.Group, c.Options...)
		if err != nil {
			return nil, err
		}
		return s, nil
	case Broadcasting:
		s, err := NewLocalFileStore(c.ClientID, c.Group, c.Options...)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return nil, offset.Errorf(offset.ErrInvalid, "unknown message model %d", model)
}
