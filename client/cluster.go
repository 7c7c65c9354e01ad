package client

import (
	"context"
	"strconv"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// The calls below, except for Status and Backup, change the cluster and carry no id: one
// that may have been done is never sent again, and its error is
// offset.ErrOutcomeUnknown; look at Status before trying again.

func (c *Client) cluster(addr string) tidemarkv1connect.ClusterServiceClient {
	return tidemarkv1connect.NewClusterServiceClient(c.caller, c.set.scheme()+addr, callOptions()...)
}

// quoted gives a name for an error; names are data.
func quoted(s string) string {
	if s == "" {
		return ""
	}
	return strconv.Quote(s)
}

// named is the subject of a call that is about the name.
type named string

func (n named) String() string { return quoted(string(n)) }

// Status asks the node at addr how it sees itself and the cluster, and tries
// no other; with an empty addr the first node that answers is asked.
func (c *Client) Status(ctx context.Context, addr string) (status offset.Status, err error) {
	t := trial{op: "status", kind: reading, subject: named(addr)}
	c.began(&t)
	defer c.ended(&t, &err)
	err = c.sendTo(ctx, addr, &t, func(ms uint32) error {
		at := c.to(addr)
		a, err := once(ctx, c, at, ms, c.cluster(at).Status, &tidemarkv1.StatusRequest{})
		if err != nil {
			return err
		}
		status, err = wire.FromStatusResponse(a)
		return c.answered(at, status.Meta, err)
	})
	if err != nil {
		return offset.Status{}, err
	}
	return status, nil
}

// change sends one change of the cluster, which answers with a Meta, to the node at
// addr (empty: whichever serves); subject is what it is about.
func (c *Client) change(ctx context.Context, op, subject, addr string, send func(addr string, ms uint32) (*tidemarkv1.Meta, error)) (meta offset.Meta, err error) {
	t := trial{op: op, kind: single, whole: true, subject: named(subject)}
	c.began(&t)
	defer c.ended(&t, &err)
	err = c.retry(ctx, &t, func(ms uint32) error {
		at := c.to(addr)
		m, err := send(at, ms)
		if err != nil {
			return err
		}
		meta, err = wire.FromMeta(m)
		return c.answered(at, meta, err)
	})
	if err != nil {
		return offset.Meta{}, err
	}
	return meta, nil
}

// AddMember adds id ("name/member-id") with its peer address as a nonvoter.
func (c *Client) AddMember(ctx context.Context, id, address string) (offset.Meta, error) {
	return c.change(ctx, "add member", id, "", func(addr string, ms uint32) (*tidemarkv1.Meta, error) {
		a, err := once(ctx, c, addr, ms, c.cluster(addr).AddMember, &tidemarkv1.AddMemberRequest{Id: id, PeerAddress: address})
		return a.GetMeta(), err
	})
}

// PromoteMember makes a nonvoter that has caught up a voter.
func (c *Client) PromoteMember(ctx context.Context, id string) (offset.Meta, error) {
	return c.change(ctx, "promote member", id, "", func(addr string, ms uint32) (*tidemarkv1.Meta, error) {
		a, err := once(ctx, c, addr, ms, c.cluster(addr).PromoteMember, &tidemarkv1.PromoteMemberRequest{Id: id})
		return a.GetMeta(), err
	})
}

// RemoveMember takes a member out, by id or, where that is unambiguous, by name.
func (c *Client) RemoveMember(ctx context.Context, id string) (offset.Meta, error) {
	return c.change(ctx, "remove member", id, "", func(addr string, ms uint32) (*tidemarkv1.Meta, error) {
		a, err := once(ctx, c, addr, ms, c.cluster(addr).RemoveMember, &tidemarkv1.RemoveMemberRequest{Id: id})
		return a.GetMeta(), err
	})
}

// Transfer hands leadership to a voter ("" for any that has caught up), and
// gives the id of that.
func (c *Client) Transfer(ctx context.Context, to string) (leader string, m offset.Meta, err error) {
	m, err = c.change(ctx, "transfer", to, "", func(addr string, ms uint32) (*tidemarkv1.Meta, error) {
		a, err := once(ctx, c, addr, ms, c.cluster(addr).Transfer, &tidemarkv1.TransferRequest{To: to})
		leader = a.GetLeaderId()
		return a.GetMeta(), err
	})
	if err != nil {
		return "", m, err
	}
	return leader, m, nil
}

// Snapshot takes a snapshot on the node at addr now (empty: on whichever
// answers), and gives its index and size.
func (c *Client) Snapshot(ctx context.Context, addr string) (index, bytes uint64, m offset.Meta, err error) {
	m, err = c.change(ctx, "snapshot", addr, addr, func(at string, ms uint32) (*tidemarkv1.Meta, error) {
		a, err := once(ctx, c, at, ms, c.cluster(at).Snapshot, &tidemarkv1.SnapshotRequest{})
		index, bytes = a.GetIndex(), a.GetBytes()
		return a.GetMeta(), err
	})
	if err != nil {
		return 0, 0, m, err
	}
	return index, bytes, m, nil
}

// Backup yields a backup of all that the cluster keeps, in pieces, in the order
// of the file; each is valid during the call only. The node at addr makes it
// (empty: whichever answers), from one root that is as fresh as at says. It ends
// with the first error of yield, as it is. It is tried again, where addr is
// empty, as long as no piece was yielded; a stream that breaks off later is
// offset.ErrUnreachable, and what was yielded is then no backup.
func (c *Client) Backup(ctx context.Context, addr string, at offset.ReadAt, yield func(offset.BackupPart) error) (err error) {
	t := trial{op: "backup", kind: reading, whole: true, subject: named(addr)}
	c.began(&t)
	defer c.ended(&t, &err)
	return c.stream(ctx, addr, &t, "bytes", func(ms uint32, o *outflow) error {
		return c.backup(ctx, c.to(addr), wire.ToBackupRequest(at, ms), yield, o)
	})
}

// backup reads one stream of pieces.
func (c *Client) backup(ctx context.Context, addr string, q *tidemarkv1.BackupRequest, yield func(offset.BackupPart) error, o *outflow) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	s, err := c.cluster(addr).Backup(ctx, connect.NewRequest(q))
	if err != nil {
		return c.unaryError(addr, err)
	}
	defer s.Close()
	for s.Receive() {
		part, total, last, err := wire.FromBackupResponse(s.Msg())
		switch {
		case err != nil:
			return c.answered(addr, part.Meta, err)
		case last && total != o.came:
			return offset.Errorf(offset.ErrOutcomeUnknown, "%d bytes came, and the server sent %d", o.came, total)
		case last:
			return nil
		}
		o.begun, o.came = true, o.came+uint64(len(part.Data))
		if o.stopped = yield(part); o.stopped != nil {
			return nil
		}
	}
	if err := s.Err(); err != nil {
		return c.unaryError(addr, err)
	}
	return offset.Errorf(offset.ErrOutcomeUnknown, "the stream ended before its last message")
}

// RaiseLevel raises the format level, once all members can read it. It is
// never lowered.
func (c *Client) RaiseLevel(ctx context.Context, level uint8) (offset.Meta, error) {
	return c.change(ctx, "raise level", "", "", func(addr string, ms uint32) (*tidemarkv1.Meta, error) {
		a, err := once(ctx, c, addr, ms, c.cluster(addr).RaiseLevel, &tidemarkv1.RaiseLevelRequest{Level: uint32(level)})
		return a.GetMeta(), err
	})
}
