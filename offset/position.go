package offset

// Position is what is stored for a key.
type Position struct {
	// Offset is the next message to consume, 0 or more.
	Offset int64
	// Index is the raft index of the entry that changed the key last. Several
	// changes can share an entry, so it is never compared to decide a write.
	Index uint64
	// Epoch is the key's own epoch: the raft index of the last act that
	// changed it, or, for a key that a commit created, what that commit carried.
	Epoch uint64
	// Time is when the key changed last, Unix milliseconds by the leader's
	// clock, never earlier than that of an earlier entry. Information only.
	Time int64
	// Pending: moved by an operator's set or reset that no commit under its
	// epoch has followed yet.
	Pending bool
}

// KeyState is the answer to a query of one key. "No offset" is Exists false,
// never an offset of -1 or 0.
type KeyState struct {
	// Exists reports whether the key has an offset.
	Exists bool
	// Position is what is stored. Of a key that does not exist only Epoch is
	// set: the highest floor of its group, its topic and all.
	Position Position
	// Epoch is what a commit, or a client's Set, must carry now: the highest
	// of the key's own epoch, or its floor, and the claims of its scopes.
	Epoch uint64
	// Claim is the index of the newest claim on the key; 0 if there is none.
	Claim uint64
}

// KeyedState is a KeyState with the key it belongs to.
type KeyedState struct {
	Key Key
	KeyState
}
