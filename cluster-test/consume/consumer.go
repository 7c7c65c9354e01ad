package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ackfile"
	"github.com/tidemark-mq/tidemark/offset"
)

// consumer commits ever larger offsets of the queues it owns.
type consumer struct {
	set   queueSet
	store *client.RemoteStore
	out   *ackfile.Writer
	pace  time.Duration

	at map[int32]int64 // offset of each queue, as consumed
}

// persistTime bounds one persist; past it the outcome may be unknown.
const persistTime = 3 * time.Second

// consume is the life of one consumer. An error is one that a consumer must
// never meet; the end of ctx is none.
func consume(ctx context.Context, c *client.Client, set queueSet, f flags, name string) (err error) {
	store, err := client.NewRemoteStore(c, set.Group, client.WithPersistInterval(time.Hour))
	if err != nil {
		return err
	}
	defer closeStore(store)
	k := offset.Key{Group: set.Group, MessageQueue: set.MQs[0]}
	out, err := ackfile.Open(filepath.Join(f.Dir, name+".acks"), k)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	one := &consumer{set: set, store: store, out: out, pace: f.Pace, at: map[int32]int64{}}
	return one.run(ctx)
}

// closeStore gives the last values a moment; what is not acknowledged then was
// never noted as such.
func closeStore(s *client.RemoteStore) {
	ctx, cancel := context.WithTimeout(context.Background(), persistTime)
	defer cancel()
	_ = s.Close(ctx)
}

// run reads where to start, then consumes until ctx ends.
func (c *consumer) run(ctx context.Context) error {
	if err := c.start(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	if err := c.out.Write(ackfile.Read, c.at); err != nil {
		return err
	}
	tick := time.NewTicker(c.pace)
	defer tick.Stop()
	for ctx.Err() == nil {
		for _, mq := range c.set.MQs {
			c.at[mq.QueueID] += 1 + rand.Int64N(50)
			c.store.UpdateOffset(mq, c.at[mq.QueueID], true)
		}
		if err := c.persist(ctx); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// start reads each queue's offset, for as long as it takes.
func (c *consumer) start(ctx context.Context) error {
	for _, mq := range c.set.MQs {
		for {
			at, err := c.read(ctx, mq)
			if err == nil {
				c.at[mq.QueueID] = at
				break
			}
			if errors.Is(err, offset.ErrNoOffset) {
				return fmt.Errorf("queue %d has no offset, but was imported", mq.QueueID)
			}
			if ctx.Err() != nil {
				return nil
			}
		}
	}
	return nil
}

func (c *consumer) read(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, persistTime)
	defer cancel()
	return c.store.ReadOffset(ctx, mq, client.ReadFromStore)
}

// persist persists the present offsets until they are acknowledged, and notes
// each answer.
func (c *consumer) persist(ctx context.Context) error {
	kind := ackfile.Acknowledged
	for {
		err := c.persistOnce(ctx)
		switch {
		case err == nil:
			return c.note(kind)
		case errors.Is(err, offset.ErrFenced):
			return errors.Join(c.out.Write(ackfile.Fenced, c.at), fmt.Errorf("fenced, but nobody acted: %w", err))
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, offset.ErrOutcomeUnknown):
			if err := c.out.Write(ackfile.Unknown, c.at); err != nil {
				return err
			}
			kind = ackfile.Resent
		}
	}
}

func (c *consumer) persistOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, persistTime)
	defer cancel()
	return c.store.PersistAll(ctx, c.set.MQs)
}

// note writes an acknowledgement; a resent one counts as both.
func (c *consumer) note(k ackfile.Kind) error {
	if k == ackfile.Resent {
		if err := c.out.Write(ackfile.Resent, c.at); err != nil {
			return err
		}
	}
	return c.out.Write(ackfile.Acknowledged, c.at)
}
