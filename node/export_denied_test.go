package node_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

// withdrawn lets the reader read until it is set.
type withdrawn struct{ atomic.Bool }

func (w *withdrawn) Allow(p auth.Principal, a auth.Action, _ auth.Scope) error {
	if p.Name == "reader" && w.Load() {
		return offset.Errorf(offset.ErrDenied, "%q may not %v any more", p.Name, a)
	}
	return nil
}

// TestARightWithdrawnEndsAnExport: what the policy no longer gives ends at the
// next page of an export, which may take minutes.
func TestARightWithdrawnEndsAnExport(t *testing.T) {
	w := &withdrawn{}
	c := incluster.Start(t, 1, func(m *incluster.Member) { m.Config.Policy = w })
	m := c.Members[0]
	for _, group := range []string{"a", "b"} {
		if err := commitTo(t, m, m.Status().Meta.Cluster, group, offset.MaxPage); err != nil {
			t.Fatal(err)
		}
	}
	pages := 0
	err := m.Node().Export(within(t, incluster.Patience), auth.Principal{Name: "reader"}, &offset.List{}, func(offset.Page) error {
		pages++
		w.Store(true)
		return nil
	})
	if !errors.Is(err, offset.ErrDenied) || pages != 1 {
		t.Errorf("%d pages, then %v", pages, err)
	}
}
