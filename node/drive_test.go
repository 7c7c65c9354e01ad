package node

import (
	"errors"
	"testing"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestAnActThatLosesItsPlaceIsUnknown: one more act under way ends the one that
// began first. Entries of it have been applied then, so "not done" would be wrong.
func TestAnActThatLosesItsPlaceIsUnknown(t *testing.T) {
	ended := offset.ActResult{Code: offset.CodeTooOld, Done: true, Changed: 5}
	for name, x := range map[string]struct {
		answers []offset.ActResult
		want    offset.Code
		unknown bool
	}{
		"done":                 {[]offset.ActResult{{Next: 1}, {Next: 2}, {Done: true}}, offset.CodeOK, false},
		"ended half way":       {[]offset.ActResult{{Next: 1, Changed: 5}, ended}, offset.CodeTooOld, true},
		"too old at once":      {[]offset.ActResult{{Code: offset.CodeTooOld, Done: true}}, offset.CodeTooOld, false},
		"resent when it ended": {[]offset.ActResult{ended}, offset.CodeTooOld, false}, // clients know that they have sent it before
	} {
		var steps []uint32
		got, err := drive(entry.Request{Act: &offset.Act{}}, func(r entry.Request) (outcome, error) {
			a := x.answers[len(steps)]
			steps = append(steps, r.Step)
			return outcome{answer: fsm.Answer{Act: a}}, nil
		})
		if got.answer.Act.Code != x.want || (err != nil) != x.unknown || x.unknown && !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Errorf("%s: code %d, %v", name, got.answer.Act.Code, err)
		}
		if len(steps) != len(x.answers) || steps[len(steps)-1] != uint32(len(x.answers)-1) {
			t.Errorf("%s: steps %v of %d", name, steps, len(x.answers))
		}
	}
}
