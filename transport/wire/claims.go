package wire

import (
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// ToClaimsRequest makes the API's form of c.
func ToClaimsRequest(c *offset.Claims, timeoutMS uint32) *tidemarkv1.ClaimsRequest {
	m := &tidemarkv1.ClaimsRequest{Level: toLevel(c.At.Level), AtIndex: c.At.Index, TimeoutMs: timeoutMS}
	switch {
	case c.One && c.ByBroker:
		m.Scope = &tidemarkv1.ClaimsRequest_Broker{Broker: c.Name}
	case c.One:
		m.Scope = &tidemarkv1.ClaimsRequest_Group{Group: c.Name}
	}
	return m
}

// FromClaimsRequest reads a Claims.
func FromClaimsRequest(m *tidemarkv1.ClaimsRequest) (*offset.Claims, error) {
	at, err := fromReadAt(m.GetLevel(), m.GetAtIndex())
	if err != nil {
		return nil, err
	}
	c := &offset.Claims{At: at}
	switch s := m.GetScope().(type) {
	case *tidemarkv1.ClaimsRequest_Group:
		c.One, c.Name = true, s.Group
	case *tidemarkv1.ClaimsRequest_Broker:
		c.One, c.ByBroker, c.Name = true, true, s.Broker
	}
	return c, nil
}

// ToClaimsResponse makes the API's form of claims.
func ToClaimsResponse(list []offset.Claim, meta offset.Meta) *tidemarkv1.ClaimsResponse {
	m := &tidemarkv1.ClaimsResponse{Meta: ToMeta(meta), Claims: make([]*tidemarkv1.Claimed, len(list))}
	for i, c := range list {
		x := &tidemarkv1.Claimed{Holder: c.Holder, Index: c.Index}
		if c.ByBroker {
			x.Scope = &tidemarkv1.Claimed_Broker{Broker: c.Name}
		} else {
			x.Scope = &tidemarkv1.Claimed_Group{Group: c.Name}
		}
		m.Claims[i] = x
	}
	return m
}

// FromClaimsResponse reads an answer with claims.
func FromClaimsResponse(m *tidemarkv1.ClaimsResponse) ([]offset.Claim, offset.Meta, error) {
	meta, err := FromMeta(m.GetMeta())
	if err != nil {
		return nil, offset.Meta{}, err
	}
	list := make([]offset.Claim, len(m.GetClaims()))
	for i, x := range m.GetClaims() {
		c := offset.Claim{Holder: x.GetHolder(), Index: x.GetIndex()}
		switch s := x.GetScope().(type) {
		case *tidemarkv1.Claimed_Group:
			c.Name = s.Group
		case *tidemarkv1.Claimed_Broker:
			c.ByBroker, c.Name = true, s.Broker
		default:
			return nil, offset.Meta{}, offset.Errorf(offset.ErrInvalid, "a claim in the answer names neither a group nor a broker")
		}
		list[i] = c
	}
	return list, meta, nil
}
