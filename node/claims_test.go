package node_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestClaims: who holds a scope shows on every member, the newest claim alone.
func TestClaims(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	ctx := within(t, incluster.Patience)
	take := func(byBroker bool, name, holder string) uint64 {
		st := leader.Status()
		a := offset.Act{
			ID: incluster.NewActID(), Base: st.Meta.Index, Cluster: st.Meta.Cluster,
			Take: &offset.Take{ByBroker: byBroker, Name: name, Holder: holder},
		}
		got, _, err := leader.Node().Act(ctx, incluster.Operator, &a)
		if err != nil || got.Code != offset.CodeOK {
			t.Fatalf("claim of %q: %+v, %v", name, got, err)
		}
		return got.Index
	}
	take(true, "b", "first")
	group := offset.Claim{Name: "g", Holder: "team", Index: take(false, "g", "team")}
	broker := offset.Claim{ByBroker: true, Name: "b", Holder: "second", Index: take(true, "b", "second")}
	for _, m := range c.Members {
		for name, x := range map[string]struct {
			q    offset.Claims
			want []offset.Claim
		}{
			"all":           {offset.Claims{}, []offset.Claim{group, broker}},
			"the broker":    {offset.Claims{One: true, ByBroker: true, Name: "b"}, []offset.Claim{broker}},
			"the group":     {offset.Claims{One: true, Name: "g"}, []offset.Claim{group}},
			"never claimed": {offset.Claims{One: true, Name: "b"}, nil},
		} {
			got, meta, err := m.Node().Claims(ctx, incluster.Operator, &x.q)
			if err != nil || !slices.Equal(got, x.want) || meta.Index < broker.Index {
				t.Errorf("%s at %s: %+v as of %d, %v, want %+v", name, m.Name, got, meta.Index, err, x.want)
			}
		}
	}
	if _, _, err := leader.Node().Claims(ctx, incluster.Operator, &offset.Claims{One: true}); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("a group without a name: %v, want ErrInvalid", err)
	}
}

// TestClaimsAreRead: a right to one broker shows its claim, and no others.
func TestClaimsAreRead(t *testing.T) {
	c := incluster.Start(t, 1, func(m *incluster.Member) { m.Config.Policy = ownBroker{} })
	for name, x := range map[string]struct {
		q  offset.Claims
		ok bool
	}{
		"its own":   {offset.Claims{One: true, ByBroker: true, Name: "b"}, true},
		"another's": {offset.Claims{One: true, ByBroker: true, Name: "c"}, false},
		"all":       {offset.Claims{}, false},
	} {
		_, _, err := c.Members[0].Node().Claims(within(t, incluster.Patience), auth.Principal{Name: "broker"}, &x.q)
		if denied := errors.Is(err, offset.ErrDenied); denied == x.ok || !denied && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ownBroker lets everyone do everything at the broker b.
type ownBroker struct{}

func (ownBroker) Allow(_ auth.Principal, _ auth.Action, s auth.Scope) error {
	if s.Broker == auth.Only("b") {
		return nil
	}
	return offset.Errorf(offset.ErrDenied, "not yours")
}
