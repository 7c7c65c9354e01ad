package offset

// Limits on what comes from outside. Each is checked before anything is
// proposed; the errors wrap ErrInvalid unless said otherwise.
const (
	// MaxName is the longest group, topic, broker or holder name, in bytes.
	MaxName = 255
	// MaxCommits is how many commits, targets or keys one request may carry.
	MaxCommits = 10_000
	// MaxRequest is the largest request, in bytes of its log entry.
	MaxRequest = 512 << 10
	// MaxMessage is the largest message that a server takes, in bytes: one
	// request, or the calls that share one message of a stream. It is above
	// MaxRequest since some requests name each key in full, where a log entry
	// shares names. An answer may be larger, as it repeats the keys with their states.
	MaxMessage = 1 << 20
	// MaxAnswer is the largest message that an answer comes in, in bytes: of
	// MaxCommits commits with the longest names, each refused with its key, which a
	// request names once, and of others that travel with it.
	MaxAnswer = 16 << 20
	// MaxPage is how many rows one page of a listing may have.
	MaxPage = 10_000
	// MaxNames is how many keys the answer to an act names.
	MaxNames = 100
	// MaxActs is how many act ids, with their answers, the state remembers.
	MaxActs = 1024
	// MaxFloors is how many scopes keep a floor of their own; beyond, the oldest
	// becomes the floor of all.
	MaxFloors = 1 << 16
	// MaxClaims is how many scopes may be claimed; a further claim is ErrLimit.
	MaxClaims = 1024
	// MaxBrokers is how many brokers one group may have offsets on; more are ErrLimit.
	MaxBrokers = 4096
	// MaxMembers is how many members a cluster may have.
	MaxMembers = 32
)
