package offset

// Act is what an operator, or a consumer on purpose, does to many keys. It is
// resent with the same ID and Base. Exactly one of the pointers is set.
type Act struct {
	// ID is drawn at random before the first sending.
	ID ActID
	// Base is the index at which the issuer last read, before the first
	// sending. A key whose own epoch is newer is left alone.
	Base uint64
	// Cluster is the cluster that Base was read from. Required.
	Cluster ClusterID
	// Claim is the claim of the holder that the act comes through; 0 for none.
	Claim uint64

	Reset  *Reset
	Remove *Remove
	Clone  *Clone
	Expire *Expire
	Take   *Take
	Import *Import
}

// Reset gives many keys explicit offsets; the positions become pending.
type Reset struct {
	// Targets holds at most MaxCommits keys, none twice.
	Targets []Target
}

// Remove removes the keys of a scope.
type Remove struct{ Scope Scope }

// Scope selects keys: of a group, of a topic in a group, of one queue, or of a
// topic in all groups; each on all brokers or on one.
type Scope struct {
	// Group is empty for a topic of all groups.
	Group string
	// Topic is empty for a whole group.
	Topic string
	// HasBroker narrows the scope to the broker named Broker (which may be empty).
	HasBroker bool
	Broker    string
	// HasQueue narrows it to one queue; needs Group, Topic and HasBroker.
	HasQueue bool
	QueueID  int32
}

// Clone copies what group From has over group To; what else To has stays.
type Clone struct {
	From, To string
	// Topic narrows it to one topic; empty means all.
	Topic string
	// HasBroker narrows it to the broker named Broker.
	HasBroker bool
	Broker    string
}

// Expire removes groups that have not moved since they were listed.
type Expire struct {
	// Groups holds at most MaxCommits groups, none twice.
	Groups []Idle
}

// Idle is a group and the highest index of its keys when it was listed; if it
// has moved since, it stays.
type Idle struct {
	Group string
	Seen  uint64
}

// Take claims a scope: every key of it gets a newer epoch, none is touched.
// The word in docs and API is "claim"; the entry's index is the claim.
type Take struct {
	// Exactly one of group and broker is claimed: ByBroker says which.
	ByBroker bool
	Name     string
	// Holder names who claims, for people. At most MaxName bytes.
	Holder string
}

// ImportMode says how an import treats what is there.
type ImportMode uint8

// The modes of an import.
const (
	// ImportMerge keeps the larger offset of each key.
	ImportMerge ImportMode = iota
	// ImportReplace stages the content and swaps it in by one entry.
	ImportReplace
)

// ImportStep is which entry of an import an act carries.
type ImportStep uint8

// The steps of an import.
const (
	// ImportBegin begins it; only this step can. Repeated, it reports how far it is.
	ImportBegin ImportStep = iota
	// ImportChunk brings chunk Next. The last chunk of a merge ends it.
	ImportChunk
	// ImportSwap ends a replace; its Base is read just before it is sent.
	ImportSwap
	// ImportAbort drops the import Act.ID.
	ImportAbort
)

// Import is one step of an import; Act.ID is the import's id in each of them.
type Import struct {
	Step ImportStep
	// For ImportBegin: what is imported.
	Mode ImportMode
	// Group, with ImportReplace, is the group that is replaced; empty for all.
	Group string
	// Hash is the SHA-256 of the file's content, so that a resumed import can
	// tell that it is the same.
	Hash [32]byte
	// Chunks and Offsets are what the whole import has.
	Chunks  uint32
	Offsets uint64
	// For ImportChunk: its number, from 0, and its content in ascending order.
	Chunk   uint32
	Targets []Target
}

// ImportStatus is the import under way.
type ImportStatus struct {
	ID      ActID
	Mode    ImportMode
	Group   string
	Hash    [32]byte
	Chunks  uint32
	Offsets uint64
	// Next is the number of the chunk that is expected next.
	Next uint32
	// Base is the one of its first entry.
	Base uint64
}

// ActResult is the answer to an act, and what the state remembers of it.
type ActResult struct {
	// Code is CodeOK, CodeSuperseded, CodeTooOld, CodeNotFound, CodeImportBusy,
	// CodeNoImport, CodeLimit, or CodeInvalid where the id is that of another act.
	Code Code
	// Index is the index of the act's own entry (of its last one, if it was
	// cut), also in the answer to a resend. For a claim, it is the claim.
	Index uint64
	// Done is false while further entries of a cut act, or an import, are to come.
	Done bool
	// Next is the number of the step, or chunk, that is expected next.
	Next uint32
	// Changed is how many keys the act moved or removed (of a replace, how many
	// it brought in), Kept how many of its scope it left alone since they were
	// newer than its base (or, of an expiry, groups that moved; of a merge,
	// those that were no lower; of a replace of a group, those of others).
	Changed, Kept uint64
	// Names are the first MaxNames keys it left alone since they are newer; of
	// an expiry, groups, as keys that have nothing else.
	Names []Key
}

// Member is what a member announces of itself by an entry.
type Member struct {
	// ID is raft's server id, "name/member-id".
	ID string
	// API is the address that clients reach it at, host:port.
	API string
	// MaxLevel is the highest format level it reads.
	MaxLevel uint8
}

// Kind names what the act does, as errors and the audit log have it: "reset",
// "remove", "clone", "expire", "claim" or "import"; "act" if it does nothing.
func (a *Act) Kind() string {
	switch {
	case a.Reset != nil:
		return "reset"
	case a.Remove != nil:
		return "remove"
	case a.Clone != nil:
		return "clone"
	case a.Expire != nil:
		return "expire"
	case a.Take != nil:
		return "claim"
	case a.Import != nil:
		return "import"
	}
	return "act"
}

// Validate checks the act against the limits; the error wraps ErrInvalid and
// names the first fault.
func (a *Act) Validate() error {
	if a.ID.IsZero() {
		return Errorf(ErrInvalid, "the act id is missing; draw 16 random bytes, and send the same again when resending")
	}
	if a.Cluster.IsZero() {
		return Errorf(ErrInvalid, "the cluster id is missing; an act carries the index and the cluster id that its issuer read")
	}
	n := 0
	var err error
	check := func(set bool, f func() error) {
		if set {
			n++
			if err == nil {
				err = f()
			}
		}
	}
	check(a.Reset != nil, func() error { return validateTargets("reset", a.Reset.Targets) })
	check(a.Remove != nil, func() error { return a.Remove.Scope.Validate() })
	check(a.Clone != nil, func() error { return a.Clone.validate() })
	check(a.Expire != nil, func() error { return a.Expire.validate() })
	check(a.Take != nil, func() error { return a.Take.validate() })
	check(a.Import != nil, func() error { return a.Import.validate() })
	if n != 1 {
		return Errorf(ErrInvalid, "an act does exactly one thing; this one names %d", n)
	}
	return err
}

func validateTargets(what string, list []Target) error {
	if len(list) == 0 || len(list) > MaxCommits {
		return Errorf(ErrInvalid, "%d keys in one %s; 1 to %d are allowed", len(list), what, MaxCommits)
	}
	seen := make(map[Key]struct{}, len(list))
	for _, t := range list {
		if t.Offset < 0 {
			return Errorf(ErrInvalid, "offset %d of %s is negative", t.Offset, t.Key)
		}
		if err := t.Key.Validate(); err != nil {
			return err
		}
		if _, twice := seen[t.Key]; twice {
			return Errorf(ErrInvalid, "%s occurs twice", t.Key)
		}
		seen[t.Key] = struct{}{}
	}
	return nil
}

// Validate checks the scope; the error wraps ErrInvalid.
func (s Scope) Validate() error {
	if s.Group == "" && s.Topic == "" {
		return Errorf(ErrInvalid, "the scope names neither a group nor a topic")
	}
	if s.HasQueue && (s.Group == "" || s.Topic == "" || !s.HasBroker) {
		return Errorf(ErrInvalid, "a queue needs its group, topic and broker")
	}
	if s.QueueID < 0 {
		return Errorf(ErrInvalid, "queue id %d is negative", s.QueueID)
	}
	if err := ValidateName("group", s.Group, true); err != nil {
		return err
	}
	if err := ValidateName("topic", s.Topic, true); err != nil {
		return err
	}
	return ValidateName("broker", s.Broker, true)
}

func (c *Clone) validate() error {
	if err := ValidateName("source group", c.From, false); err != nil {
		return err
	}
	if err := ValidateName("destination group", c.To, false); err != nil {
		return err
	}
	if c.From == c.To {
		return Errorf(ErrInvalid, "a group cannot be cloned onto itself")
	}
	if err := ValidateName("topic", c.Topic, true); err != nil {
		return err
	}
	return ValidateName("broker", c.Broker, true)
}

func (e *Expire) validate() error {
	if len(e.Groups) == 0 || len(e.Groups) > MaxCommits {
		return Errorf(ErrInvalid, "%d groups in one expiry; 1 to %d are allowed", len(e.Groups), MaxCommits)
	}
	seen := make(map[string]struct{}, len(e.Groups))
	for _, g := range e.Groups {
		if err := ValidateName("group", g.Group, false); err != nil {
			return err
		}
		if _, twice := seen[g.Group]; twice {
			return Errorf(ErrInvalid, "group %q occurs twice", g.Group)
		}
		seen[g.Group] = struct{}{}
	}
	return nil
}

func (t *Take) validate() error {
	if err := ValidateName("holder", t.Holder, false); err != nil {
		return err
	}
	if t.ByBroker {
		return ValidateName("broker", t.Name, true)
	}
	return ValidateName("group", t.Name, false)
}

func (i *Import) validate() error {
	if i.Step > ImportAbort || i.Mode > ImportReplace {
		return Errorf(ErrInvalid, "unknown import step or mode")
	}
	if i.Group != "" && i.Mode != ImportReplace {
		return Errorf(ErrInvalid, "only a replace names a group")
	}
	if err := ValidateName("group", i.Group, true); err != nil {
		return err
	}
	if i.Step == ImportChunk {
		return validateTargets("chunk", i.Targets)
	}
	return nil
}
