// Package auth identifies callers and says what they may do. It imports only
// auth/certs, internal/livefile and offset; the only place that asks a Policy is
// package node.
package auth

// Principal is the sender of a request and where it came from. The zero value is
// nobody.
type Principal struct {
	// Name is the authenticated name; AnonymousName where nothing authenticates.
	Name string
	// From is the address that the request came from, for the audit log.
	From string
}

// AnonymousName is the name of every caller that showed no credentials. No
// token and no certificate has it.
const AnonymousName = "anonymous"

// Anonymous is the principal of a caller that nothing authenticated.
func Anonymous(from string) Principal { return Principal{Name: AnonymousName, From: from} }

// Action is a kind of thing that a principal may do.
type Action uint8

// The actions.
const (
	// Read: fetch, list, export.
	Read Action = iota
	// Commit: commits and a consumer's own Set.
	Commit
	// Operate: acts, imports, an operator's Set.
	Operate
	// Administer: members, leadership, snapshots, the format level.
	Administer
	// Look: the status of a node and of the cluster, for whoever may read something.
	Look
	// Stage: to begin and to drop an import that merges, which by itself changes
	// no offset, for whoever may operate on something.
	Stage
)

// String gives the action's name.
func (a Action) String() string {
	if int(a) < len(actions) {
		return actions[a]
	}
	return "unknown"
}

var actions = [...]string{"read", "commit", "operate", "administer", "look", "stage"}

// Policy decides. A Policy is used by many goroutines at once, and asked for
// each key of a request, so it must be quick.
type Policy interface {
	// Allow returns nil, or an error that wraps offset.ErrDenied. Administer,
	// Look and Stage concern no keys; their scope is Everything.
	Allow(p Principal, a Action, s Scope) error
}

// AllowAll permits everything to everyone.
type AllowAll struct{}

// Allow returns nil.
func (AllowAll) Allow(Principal, Action, Scope) error { return nil }

var _ Policy = AllowAll{}
