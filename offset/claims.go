package offset

// Claims asks for claims, all from one root: the newest of each scope.
type Claims struct {
	At ReadAt
	// One narrows the answer to one scope, a broker's with ByBroker, else a
	// group's, by its exact name.
	One, ByBroker bool
	Name          string
}

// Validate checks the request; the error wraps ErrInvalid.
func (c *Claims) Validate() error {
	if err := c.At.Validate(); err != nil || !c.One {
		return err
	}
	field := "group"
	if c.ByBroker {
		field = "broker"
	}
	return ValidateName(field, c.Name, c.ByBroker)
}

// Claim is the newest claim of a scope. Claims are never forgotten; there are
// at most 1,024.
type Claim struct {
	// ByBroker: Name is a broker's; otherwise a group's.
	ByBroker bool
	Name     string
	// Holder names who claimed, for people.
	Holder string
	// Index is that of its entry: what commits in the scope carry at least.
	Index uint64
}
