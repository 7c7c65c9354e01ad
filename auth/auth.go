// Package auth says who a caller is and what it may do. It is a leaf; the
// only place that asks a Policy is package node.
package auth

// Principal is who sent a request and from where. The zero value is nobody.
type Principal struct {
	// Name is the authenticated name; "anonymous" where nothing authenticates.
	Name string
	// From is the address that the request came from, for the audit log.
	From string
}

// Anonymous is the principal of a caller that nothing authenticated.
func Anonymous(from string) Principal { return Principal{Name: "anonymous", From: from} }

// Action is a kind of thing that a principal may do.
type Action uint8

// The actions.
const (
	// Read: fetch, list, status.
	Read Action = iota
	// Commit: commits and a consumer's own Set.
	Commit
	// Operate: acts, imports, an operator's Set.
	Operate
	// Administer: members, leadership, snapshots, the format level.
	Administer
)

// String gives the action's name.
func (a Action) String() string {
	return [...]string{"read", "commit", "operate", "administer"}[a&3]
}

// Policy decides. A Policy is used by many goroutines at once.
type Policy interface {
	// Allow returns nil, or an error that wraps offset.ErrDenied. group is
	// empty for what concerns no single group.
	Allow(p Principal, a Action, group string) error
}

// AllowAll permits everything to everyone.
type AllowAll struct{}

// Allow returns nil.
func (AllowAll) Allow(Principal, Action, string) error { return nil }

var _ Policy = AllowAll{}
