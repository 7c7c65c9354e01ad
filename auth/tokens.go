package auth

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark-mq/tidemark/internal/livefile"
	"github.com/tidemark-mq/tidemark/offset"
)

// tokenPrefix begins every token, so that scanners for secrets, and people,
// know one when they see it.
const tokenPrefix = "tdm_"

// maxToken bounds what is looked up, in bytes.
const maxToken = 256

// NewToken draws a token of 256 random bits.
func NewToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// TokenLine is the line of a token file for a caller's token. It holds the
// token's hash alone. A token has as many bits as its hash, so that a slow hash
// would make it no safer, and each request more expensive.
func TokenLine(name, token string) (string, error) {
	if err := validateCaller(name); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(token))
	return name + " " + hex.EncodeToString(sum[:]), nil
}

// validateCaller checks a name that a token or a certificate gives its holder.
func validateCaller(name string) error {
	if err := offset.ValidateName("the name of a caller", name, false); err != nil {
		return err
	}
	switch {
	case name == AnonymousName:
		return offset.Errorf(offset.ErrInvalid, "%q is the name of callers without a token or certificate; choose another", name)
	case strings.ContainsAny(name, " \t#*"):
		return offset.Errorf(offset.ErrInvalid, "the name %q of a caller holds a space, a # or a star; choose another", name)
	}
	return nil
}

// Tokens are callers by the hashes of their tokens. They do not change.
type Tokens struct {
	// held is by the first bytes of the hash: no two tokens have these in common.
	held map[[8]byte]heldToken
}

type heldToken struct {
	sum  [sha256.Size]byte
	name string
}

// ParseTokens reads a token file: a name and a SHA-256 in hexadecimal digits a
// line; what follows a # is not part of it. A name may have several tokens, so
// that one can take another's place without a gap.
func ParseTokens(text []byte) (*Tokens, error) {
	t := &Tokens{held: map[[8]byte]heldToken{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d: a name and a hash are needed; `tidemark token NAME` prints such a line", n)
		}
		sum, err := hex.DecodeString(fields[1])
		if err != nil || len(sum) != sha256.Size {
			// Not shown: it may be the token itself, put in by mistake.
			return nil, fmt.Errorf("line %d: what follows the name is not a SHA-256 of 64 hexadecimal digits; `tidemark token NAME` prints such a line", n)
		}
		if err := validateCaller(fields[0]); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if other, ok := t.held[[8]byte(sum)]; ok {
			return nil, fmt.Errorf("line %d: %q has the token of %q", n, fields[0], other.name)
		}
		t.held[[8]byte(sum)] = heldToken{[sha256.Size]byte(sum), fields[0]}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(t.held) == 0 {
		return nil, errors.New("holds no token; `tidemark token NAME` prints a line for it")
	}
	return t, nil
}

// Name gives whose token that is. It is looked up by its hash, no part of which a
// guesser can choose, so that the time reveals nothing about other tokens; the hash
// itself is compared in constant time.
func (t *Tokens) Name(token string) (string, bool) {
	if len(token) > maxToken {
		return "", false
	}
	sum := sha256.Sum256([]byte(token))
	e, ok := t.held[[8]byte(sum[:8])]
	if !ok || subtle.ConstantTimeCompare(e.sum[:], sum[:]) != 1 {
		return "", false
	}
	return e.name, true
}

// OpenTokens reads a token file, which Check reads again.
func OpenTokens(path string) (*livefile.Value[*Tokens], error) {
	return livefile.Open(func(c [][]byte) (*Tokens, error) { return ParseTokens(c[0]) }, path)
}
