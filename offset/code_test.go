package offset

import (
	"errors"
	"testing"
)

func TestEachCodeHasANameAndItsSentinel(t *testing.T) {
	seen := map[string]bool{CodeOK.String(): true}
	for i, c := range Codes() {
		if int(c) != i+1 {
			t.Errorf("code %d stands at place %d of the table", c, i+1)
		}
		if name := c.String(); name == "" || seen[name] {
			t.Errorf("code %d has the name %q", c, name)
		} else {
			seen[name] = true
		}
		if CodeOf(c.Err()) != c || !errors.Is(Errorf(c.Err(), "x"), c.Err()) {
			t.Errorf("code %d does not come back from its error", c)
		}
	}
	if len(seen) != len(codeNames) {
		t.Errorf("%d codes in the table, %d names", len(seen), len(codeNames))
	}
	if got := Code(200).String(); got != "code_200" {
		t.Errorf("an unknown code is %q", got)
	}
}
