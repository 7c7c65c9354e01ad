package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	apiv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
)

// askTime bounds one request to one node.
const askTime = 10 * time.Second

// askAll asks each node by itself for every key that was told: by a
// linearizable read, and then, once the node has that index, from its own table.
func askAll(ctx context.Context, endpoints []string, t *told) ([]loss, error) {
	keys := make([]offset.Key, 0, len(t.most))
	for k := range t.most {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, offset.Key.Compare)
	var lost []loss
	for _, e := range endpoints {
		for part := range slices.Chunk(keys, 1000) {
			l, err := ask(ctx, e, part, t)
			if err != nil {
				return nil, fmt.Errorf("ask %s: %w", e, err)
			}
			lost = append(lost, l...)
		}
	}
	return lost, nil
}

func ask(ctx context.Context, endpoint string, keys []offset.Key, t *told) ([]loss, error) {
	first, err := fetch(ctx, endpoint, &apiv1.FetchRequest{Keys: names(keys)})
	if err != nil {
		return nil, err
	}
	own, err := fetch(ctx, endpoint, &apiv1.FetchRequest{
		Keys: names(keys), Level: apiv1.ReadLevel_READ_LEVEL_AT_LEAST, AtIndex: first.GetMeta().GetIndex(),
	})
	if err != nil {
		return nil, err
	}
	return append(compare("by way of "+endpoint, keys, first, t), compare("in the table of "+endpoint, keys, own, t)...), nil
}

func fetch(ctx context.Context, endpoint string, r *apiv1.FetchRequest) (*apiv1.FetchResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	a, err := tidemarkv1connect.NewOffsetServiceClient(http.DefaultClient, "http://"+endpoint).Fetch(ctx, connect.NewRequest(r))
	if err != nil {
		return nil, err
	}
	if len(a.Msg.GetStates()) != len(r.GetKeys()) {
		return nil, fmt.Errorf("%d answers to %d keys", len(a.Msg.GetStates()), len(r.GetKeys()))
	}
	return a.Msg, nil
}

func names(keys []offset.Key) []*apiv1.Key {
	list := make([]*apiv1.Key, len(keys))
	for i, k := range keys {
		list[i] = &apiv1.Key{Group: k.Group, Topic: k.Topic, Broker: k.Broker, QueueId: k.QueueID}
	}
	return list
}

func compare(where string, keys []offset.Key, a *apiv1.FetchResponse, t *told) []loss {
	var lost []loss
	for i, s := range a.GetStates() {
		want := t.most[keys[i]]
		switch {
		case !s.GetExists():
			lost = append(lost, loss{where, keys[i], want, "gone"})
		case s.GetPosition().GetOffset() < want:
			lost = append(lost, loss{where, keys[i], want, fmt.Sprint(s.GetPosition().GetOffset())})
		}
	}
	return lost
}

// equalDigests waits until all nodes have applied the same, and compares.
func equalDigests(ctx context.Context, endpoints []string) (string, error) {
	for {
		list, err := statuses(ctx, endpoints)
		if err != nil {
			return "", err
		}
		first := list[0]
		if same(list, (*apiv1.StatusResponse).GetDigestIndex) {
			if !same(list, (*apiv1.StatusResponse).GetDigest) || first.GetDigest() == "" {
				return "", fmt.Errorf("the digests differ at index %d: %s and %s", first.GetDigestIndex(), first.GetDigest(), list[1].GetDigest())
			}
			return fmt.Sprintf("equal on %d nodes at index %d: %s", len(list), first.GetDigestIndex(), first.GetDigest()), nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return "", errors.New("the nodes did not come to the same index in time")
		}
	}
}

func statuses(ctx context.Context, endpoints []string) ([]*apiv1.StatusResponse, error) {
	var list []*apiv1.StatusResponse
	for _, e := range endpoints {
		ctx, cancel := context.WithTimeout(ctx, askTime)
		a, err := tidemarkv1connect.NewClusterServiceClient(http.DefaultClient, "http://"+e).Status(ctx, connect.NewRequest(&apiv1.StatusRequest{}))
		cancel()
		if err != nil {
			return nil, fmt.Errorf("status of %s: %w", e, err)
		}
		list = append(list, a.Msg)
	}
	return list, nil
}

func same[T comparable](list []*apiv1.StatusResponse, of func(*apiv1.StatusResponse) T) bool {
	for _, s := range list[1:] {
		if of(s) != of(list[0]) {
			return false
		}
	}
	return true
}
