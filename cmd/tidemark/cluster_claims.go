package main

import (
	"fmt"

	"github.com/tidemark-mq/tidemark/offset"
)

// claimsCmd lists who holds which claim.
type claimsCmd struct {
	Broker string `help:"Only the claim of this broker." placeholder:"NAME" xor:"scope"`
	Group  string `help:"Only the claim of this group." placeholder:"NAME" xor:"scope"`
	readLevel
}

// claimRow is the newest claim of one scope.
type claimRow struct {
	// Scope is "group" or "broker".
	Scope  string `json:"scope"`
	Name   string `json:"name"`
	Holder string `json:"holder"`
	Index  uint64 `json:"index,string"`
}

// claimsResult are the claims as of an index.
type claimsResult struct {
	Index  uint64     `json:"index,string"`
	Claims []claimRow `json:"claims"`
}

func (r *claimsResult) table(t *table) {
	t.row("SCOPE", "NAME", "HOLDER", "INDEX")
	for _, c := range r.Claims {
		t.row(c.Scope, shown(c.Name), shown(c.Holder), fmt.Sprint(c.Index))
	}
}

// Run asks for them. A scope that was named and never claimed is not found.
func (c *claimsCmd) Run(s *session) error {
	q := offset.Claims{At: c.at(), One: c.Broker+c.Group != "", ByBroker: c.Broker != "", Name: c.Broker + c.Group}
	ctx, cancel := s.call()
	defer cancel()
	list, meta, err := s.Claims(ctx, q)
	if err != nil {
		return err
	}
	if q.One && len(list) == 0 {
		return offset.Errorf(offset.ErrNotFound, "nobody has claimed %q", q.Name)
	}
	r := &claimsResult{Index: meta.Index, Claims: make([]claimRow, len(list))}
	for i, x := range list {
		r.Claims[i] = claimRow{Scope: "group", Name: x.Name, Holder: x.Holder, Index: x.Index}
		if x.ByBroker {
			r.Claims[i].Scope = "broker"
		}
	}
	return s.print(r)
}
