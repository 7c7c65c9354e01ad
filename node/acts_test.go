package node_test

import (
	"errors"
	"testing"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

// ownGroup lets "team" do everything with group "g", and nothing with another.
type ownGroup struct{}

func (ownGroup) Allow(p auth.Principal, a auth.Action, s auth.Scope) error {
	if p.Name == incluster.Operator.Name || p.Name == "team" && (s.Group == auth.Only("g") || a == auth.Stage || a == auth.Look) {
		return nil
	}
	return offset.Errorf(offset.ErrDenied, "%q may not touch group %q", p.Name, s.Group)
}

// TestStepsOfAnotherOnesImport: who may operate on one group cannot go on with,
// swap or abort an import of all by naming that group in the step.
func TestStepsOfAnotherOnesImport(t *testing.T) {
	c := incluster.Start(t, 1, func(m *incluster.Member) { m.Config.Policy = ownGroup{} })
	m := c.Members[0]
	ctx := within(t, incluster.Patience)
	id, cluster := incluster.NewActID(), m.Status().Meta.Cluster
	send := func(name string, i offset.Import) error {
		_, _, err := m.Node().Act(ctx, auth.Principal{Name: name}, &offset.Act{ID: id, Cluster: cluster, Import: &i})
		return err
	}
	if err := send(incluster.Operator.Name, offset.Import{Mode: offset.ImportReplace, Chunks: 1, Hash: [32]byte{1}}); err != nil {
		t.Fatal(err)
	}
	for name, i := range map[string]offset.Import{
		"begin": {Mode: offset.ImportReplace, Group: "g"},
		"chunk": {Step: offset.ImportChunk, Targets: []offset.Target{{Key: incluster.Key("g", 1), Offset: 1}}},
		"swap":  {Step: offset.ImportSwap, Mode: offset.ImportReplace, Group: "g"},
		"abort": {Step: offset.ImportAbort, Mode: offset.ImportReplace, Group: "g"},
	} {
		if err := send("team", i); !errors.Is(err, offset.ErrDenied) {
			t.Errorf("%s: %v, want ErrDenied", name, err)
		}
	}
	// Its id, which is what a step of a merge takes, is not told to them either.
	st, err := m.Node().Status(ctx, auth.Principal{Name: "team"}, true)
	if imp := st.Import; err != nil || imp == nil || imp.Chunks != 1 || !imp.ID.IsZero() || imp.Hash != [32]byte{} {
		t.Errorf("the team sees %+v, %v", imp, err)
	}
	if imp := m.Status().Import; imp == nil || imp.ID != id || imp.Next != 0 {
		t.Errorf("the import under way is %+v", imp)
	}
}
