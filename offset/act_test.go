package offset

import (
	"errors"
	"strings"
	"testing"
)

// A name that is missing is called that, before anything else is made of it.
func TestCloneNamesItsFault(t *testing.T) {
	for _, c := range []struct {
		clone Clone
		want  string
	}{
		{Clone{}, "source group is empty"},
		{Clone{From: "a"}, "destination group is empty"},
		{Clone{From: "a", To: "a"}, "onto itself"},
		{Clone{From: "a", To: "b", Topic: "x\n"}, "topic"},
	} {
		a := Act{ID: ActID{1}, Cluster: ClusterID{1}, Clone: &c.clone}
		if err := a.Validate(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want one that names %q", c.clone, err, c.want)
		}
	}
	a := Act{ID: ActID{1}, Cluster: ClusterID{1}, Clone: &Clone{From: "a", To: "b"}}
	if err := a.Validate(); err != nil {
		t.Error(err)
	}
}

func TestEachActHasAKind(t *testing.T) {
	for want, a := range map[string]Act{
		"reset": {Reset: &Reset{}}, "remove": {Remove: &Remove{}}, "clone": {Clone: &Clone{}},
		"expire": {Expire: &Expire{}}, "claim": {Take: &Take{}}, "import": {Import: &Import{}}, "act": {},
	} {
		if got := a.Kind(); got != want {
			t.Errorf("%q is named %q", want, got)
		}
	}
}
