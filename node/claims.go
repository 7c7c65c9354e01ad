package node

import (
	"context"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// Claims gives the newest claim of one scope, none if it was never claimed; or
// that of each scope, groups first, then brokers, in the order of their names.
func (n *Node) Claims(ctx context.Context, p auth.Principal, c *offset.Claims) ([]offset.Claim, offset.Meta, error) {
	if err := c.Validate(); err != nil {
		return nil, n.meta(), err
	}
	if err := n.allow(p, auth.Read, scopeOfClaims(c), "claims"); err != nil {
		return nil, n.meta(), err
	}
	root, r, err := n.rootAt(ctx, c.At)
	if err != nil {
		return nil, n.meta(), err
	}
	return claimsOf(root, c), r.metaOf(root), nil
}

func scopeOfClaims(c *offset.Claims) auth.Scope {
	switch {
	case c.One && c.ByBroker:
		return auth.Scope{Group: auth.All, Topic: auth.All, Broker: auth.Only(c.Name)}
	case c.One:
		return groupScope(c.Name)
	}
	return auth.Everything
}

func claimsOf(root *table.Root, c *offset.Claims) []offset.Claim {
	if c.One {
		if x, ok := root.Claimed(c.ByBroker, c.Name); ok {
			return []offset.Claim{offset.Claim(x)}
		}
		return nil
	}
	list := make([]offset.Claim, 0, len(root.Claims()))
	for _, x := range root.Claims() {
		list = append(list, offset.Claim(x))
	}
	return list
}
