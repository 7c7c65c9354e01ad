package auth

import "strings"

// Names is a set of names: one, or all that begin with a prefix. The zero value
// is the empty name alone, which is that of the broker where no broker is named.
type Names struct {
	// Name is the name, or what it begins with.
	Name string
	// Prefix: all names that begin with Name are meant; with an empty one, all.
	Prefix bool
}

// All is every name.
var All = Names{Prefix: true}

// Only is one name.
func Only(name string) Names { return Names{Name: name} }

// Beginning is every name with that beginning.
func Beginning(prefix string) Names { return Names{Name: prefix, Prefix: true} }

// OnlyOrAll is one name, or every one if it is empty: what requests mean that
// name a group or a topic.
func OnlyOrAll(name string) Names { return Names{Name: name, Prefix: name == ""} }

// covers reports whether all names of o are among those of n.
func (n Names) covers(o Names) bool {
	if n.Prefix {
		return strings.HasPrefix(o.Name, n.Name)
	}
	return !o.Prefix && n.Name == o.Name
}

// String writes a set as a policy file has it.
func (n Names) String() string {
	if n.Prefix {
		return n.Name + "*"
	}
	return n.Name
}

// Scope is the keys that a request is about: those whose group, topic and
// broker are all among the names.
type Scope struct{ Group, Topic, Broker Names }

// Everything is the scope of all keys.
var Everything = Scope{All, All, All}

// Key is the scope of the queues of one group, topic and broker.
func Key(group, topic, broker string) Scope {
	return Scope{Only(group), Only(topic), Only(broker)}
}
