package node_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestNoMoreMembersThanTheMost: a cluster that has 32 takes no further one, and
// says so; below that a member is refused for another reason, since nobody answers.
func TestNoMoreMembersThanTheMost(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Leader()
	stranger := func(i int) (id, address string) { return fmt.Sprintf("x%d/%032x", i, i), fmt.Sprintf("x%d:7412", i) }
	ctx := within(t, incluster.Patience)
	for i := 1; i < offset.MaxMembers-1; i++ {
		id, address := stranger(i)
		if err := node.AddBlindly(ctx, m.Node(), id, address); err != nil {
			t.Fatal(err)
		}
	}
	id, address := stranger(99)
	if _, err := m.Node().AddMember(ctx, incluster.Operator, id, address); err == nil || errors.Is(err, offset.ErrLimit) {
		t.Errorf("a member more than %d: %v", offset.MaxMembers-1, err)
	}
	last, at := stranger(offset.MaxMembers)
	if err := node.AddBlindly(ctx, m.Node(), last, at); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Node().AddMember(ctx, incluster.Operator, id, address); !errors.Is(err, offset.ErrLimit) {
		t.Errorf("a member more than %d: %v", offset.MaxMembers, err)
	}
	if n := len(m.Status().Members); n != offset.MaxMembers {
		t.Errorf("%d members", n)
	}
}
