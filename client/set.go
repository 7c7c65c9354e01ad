package client

import (
	"context"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// Set lowers or raises one key on purpose, by compare-and-set on the position
// that s says it replaces. A nil error: done, or as good as done; the verdict
// has the key as it is after. A *Refused says that it is not done and never
// will be, with offset.ErrFenced (an act, or a claim, was missed) or
// offset.ErrOvertaken (a commit came before). offset.ErrOutcomeUnknown: it may
// be done already or later; the same Set may be sent again.
func (c *Client) Set(ctx context.Context, s offset.Set) (v offset.Verdict, meta offset.Meta, err error) {
	t := trial{op: "set", kind: harmless, subject: s.Key}
	c.began(&t)
	defer c.ended(&t, &err)
	if err := s.Validate(); err != nil {
		return offset.Verdict{}, offset.Meta{}, c.fail(&t, err, nil)
	}
	err = c.retry(ctx, &t, func(ms uint32) error {
		m := &tidemarkv1.Call{Call: &tidemarkv1.Call_Set{Set: wire.ToSetRequest(&s, ms)}}
		reply, addr, err := c.call(ctx, c.link, func() *tidemarkv1.Call { return m })
		if err != nil {
			return err
		}
		v, meta, err = wire.FromSetResponse(reply.GetSet())
		return c.answered(addr, meta, err)
	})
	if err != nil {
		return offset.Verdict{}, offset.Meta{}, err
	}
	v, cause := judge(&s, v, meta, t.unknown)
	if cause == nil {
		return v, meta, nil
	}
	if cause == offset.ErrOutcomeUnknown {
		return v, meta, c.fail(&t, offset.Errorf(cause, "a resend was fenced, and the position does not tell whether an earlier send was done"), nil)
	}
	refused := &Refused{Keys: []RefusedKey{{Key: s.Key, State: v.State, Err: cause}}}
	return v, meta, c.fail(&trial{op: t.op, subject: t.subject, sends: t.sends}, refused, nil)
}

// judge says what the answer to a Set means (docs/guarantees.md#the-rule-of-writing).
// resent: an earlier send of it may have been done.
func judge(s *offset.Set, v offset.Verdict, meta offset.Meta, resent bool) (offset.Verdict, error) {
	if v.Code == offset.CodeOK {
		return v, nil
	}
	same := meta.Cluster == s.Cluster
	at := v.State.Epoch
	if s.Operator {
		at = v.State.Position.Epoch
	}
	if same && at == s.Epoch {
		// Had any send of it been done, the epoch would have moved.
		if v.State.Exists == s.Exists && v.State.Position.Offset == s.Replaces {
			return v, offset.ErrFenced // what is in the way is a claim
		}
		return v, offset.ErrOvertaken
	}
	if !resent {
		return v, offset.ErrFenced
	}
	p := v.State.Position
	if same && v.State.Exists && p.Offset == s.Offset && p.Index == p.Epoch {
		v.Code = offset.CodeOK
		return v, nil
	}
	return v, offset.ErrOutcomeUnknown
}
