package history

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/cluster-test/history/verify"
	"github.com/tidemark-mq/tidemark/offset"
)

// close has a cluster that is whole tell all that it holds, ends it, and gives
// its history with the log. The error is a *verify.Violation where members differ.
func (x *round) close() (*record.History, error) {
	ctx, cancel := context.WithTimeout(context.Background(), healTime)
	defer cancel()
	names, index, cluster, err := x.same(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if err := x.tell(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := x.arena.Close(); err != nil {
		return nil, err
	}
	h := x.rec.History()
	h.Cluster = cluster
	folders := map[string]string{}
	for _, n := range names {
		folders[n] = x.arena.Folder(n)
	}
	var whole bool
	h.Log, whole, err = verify.Logs(folders, index)
	h.Cut = !whole || x.config.CutLogs // its ballast is nobody's
	return h, err
}

// same waits until all members have applied the same, and demands that their
// digests are equal then.
func (x *round) same(ctx context.Context) (names []string, index uint64, cluster offset.ClusterID, err error) {
	for {
		var all []offset.Status
		names = nil
		for _, n := range x.arena.Names() {
			if !x.arena.Running(n) {
				continue
			}
			if s, err := fault.Status(ctx, x.arena, n); err == nil && s.DigestIndex > 0 {
				all, names = append(all, s), append(names, n)
			}
		}
		if at, err := agree(names, all); err != nil {
			return nil, 0, cluster, err
		} else if at > 0 && len(all) == len(all[0].Members) {
			return names, at, all[0].Meta.Cluster, nil
		}
		select {
		case <-ctx.Done():
			return nil, 0, cluster, fmt.Errorf("members are not at one index within %v: %v", healTime, all)
		case <-time.After(20 * time.Millisecond): // between two looks
		}
	}
}

// agree gives the index that all are at, 0 if they are not at one.
func agree(names []string, all []offset.Status) (uint64, error) {
	for i, s := range all {
		switch {
		case s.DigestIndex != all[0].DigestIndex:
			return 0, nil
		case s.Digest != all[0].Digest:
			return 0, &verify.Violation{Check: "digests are equal", Text: fmt.Sprintf("at index %d the digest of %s is %s, and that of %s is %s",
				s.DigestIndex, names[0], all[0].Digest, names[i], s.Digest)}
		}
	}
	if len(all) == 0 {
		return 0, nil
	}
	return all[0].DigestIndex, nil
}

// tell records all that a node holds. On a busy machine a connection may be given
// up for silence, so the node is asked again, until ctx is done.
func (x *round) tell(ctx context.Context, name string) error {
	o := &record.Op{Client: -1, Node: name, List: &offset.List{
		At: offset.ReadAt{Level: offset.Local}, What: offset.ListKeys, Limit: offset.MaxPage,
	}}
	for {
		o.Call = x.rec.Now()
		page, err := x.arena.Node(name).List(ctx, o.List)
		if err == nil {
			o.Return, o.Page, o.Meta = x.rec.Now(), &page, page.Meta
			x.rec.Add(o)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("asking %s for all that it holds: %w", name, err)
		case <-time.After(20 * time.Millisecond): // between two tries
		}
	}
}
