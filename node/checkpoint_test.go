package node

import (
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestRule(t *testing.T) {
	v := func(d byte) ballot { return ballot{voter: true, known: true, digest: offset.Digest{d}} }
	non := func(d byte) ballot { return ballot{known: true, digest: offset.Digest{d}} }
	silent := ballot{voter: true}
	cases := []struct {
		name   string
		own    ballot
		others []ballot
		want   ruling
	}{
		{"alone", v(1), nil, agreed},
		{"all equal", v(1), []ballot{v(1), v(1)}, agreed},
		{"one other is enough", v(1), []ballot{v(1), silent}, agreed},
		{"nobody else known", v(1), []ballot{silent, silent}, undecided},
		{"outvoted", v(1), []ballot{v(2), v(2)}, outvoted},
		{"one differs, the third silent", v(1), []ballot{v(2), silent}, split},
		{"three ways", v(1), []ballot{v(2), v(3)}, split},
		{"two of two differ", v(1), []ballot{v(2)}, split},
		{"two against two", v(1), []ballot{v(1), v(2), v(2)}, split},
		{"two of five against a silent rest", v(1), []ballot{v(2), v(2), silent, silent}, split},
		{"three of five", v(1), []ballot{v(2), v(2), v(2), silent}, outvoted},
		{"a nonvoter has no vote", v(1), []ballot{silent, non(2), non(2), non(2)}, split},
		{"a nonvoter that differs from the majority", non(1), []ballot{v(2), v(2), v(2)}, outvoted},
		{"a nonvoter that agrees with it", non(2), []ballot{v(2), v(2), v(2)}, agreed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := rule(c.own, c.others); got != c.want {
				t.Errorf("ruling = %d, want %d", got, c.want)
			}
		})
	}
}

func TestNotesKeepTheNewest(t *testing.T) {
	n := newNotes(nil)
	for i := range uint64(keptNotes + 10) {
		n.note(i+1, offset.Digest{byte(i)})
	}
	if _, ok := n.at(10); ok {
		t.Error("note 10 is still kept")
	}
	if d, ok := n.at(11); !ok || d != (offset.Digest{10}) {
		t.Errorf("note 11 = %v, %v", d, ok)
	}
	if got := <-n.fresh; got != keptNotes+10 {
		t.Errorf("fresh = %d, want the newest, %d", got, keptNotes+10)
	}
}
