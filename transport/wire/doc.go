// Package wire converts between the messages of the API (transport/api) and
// the words of package offset, in both directions.
//
// To… makes a message of the API, From… reads one; each is named for the
// message. What From… reads is hostile: lengths of parallel lists, ids, enums
// and bounds are checked before anything is allocated by them, and an error
// wraps offset.ErrInvalid and names the field. Names, negative numbers and
// missing parts of a request are left to its Validate, which its server calls
// anyway; From… of an answer checks all that its reader relies on. An
// answer that cannot be read is offset.ErrInvalid too: to the sender of a change
// that is an unknown outcome, which the caller has to turn it into.
//
// The package holds no state, starts no goroutine and does no I/O. Nothing it
// returns shares memory with its argument, except for strings.
package wire
