package offset

import (
	"errors"
	"strings"
	"testing"
)

func TestReadsAreValidated(t *testing.T) {
	key := Key{Group: "g", MessageQueue: MessageQueue{Topic: "t"}}
	local := ReadAt{Level: Local, Index: 7}
	for _, c := range []struct {
		q interface{ Validate() error }
		// want is in the error; empty: there is none.
		want string
	}{
		{ReadAt{}, ""},
		{ReadAt{Level: AtLeast, Index: 7}, ""},
		{local, "at_index 7"},
		{&Fetch{Keys: []Key{key}}, ""},
		{&Fetch{}, "0 keys"},
		{&Fetch{Keys: []Key{{Group: "g"}}}, "topic is empty"},
		{&Fetch{Keys: []Key{key}, At: local}, "at_index 7"},
		{&List{}, ""},
		{&List{What: ListKeys, NewerThan: 1, Pending: true, HasBroker: true}, ""},
		{&List{What: ListKeys + 1}, "unknown kind"},
		{&List{What: ListKeys, Prefix: "x"}, "prefix"},
		{&List{What: ListTopics, NewerThan: 1}, "newer_than"},
		{&List{What: ListGroups, Pending: true}, "pending"},
		{&List{At: local}, "at_index 7"},
		{&List{Group: "a\n"}, "group"},
		{&List{Prefix: strings.Repeat("x", MaxName+1)}, "prefix has 256 bytes"},
		{&Claims{}, ""},
		{&Claims{Name: "a\n"}, ""},
		{&Claims{One: true, Name: "g"}, ""},
		{&Claims{One: true}, "group is empty"},
		{&Claims{One: true, ByBroker: true}, ""},
		{&Claims{One: true, ByBroker: true, Name: "a\n"}, "broker"},
		{&Claims{At: local}, "at_index 7"},
	} {
		err := c.q.Validate()
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v; want one that names %q", c.q, err, c.want)
		}
	}
}
