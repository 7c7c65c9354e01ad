package offset

import "encoding/hex"

// ClusterID names one cluster for ever; it is drawn at founding. The zero
// value means "not known".
type ClusterID [16]byte

// ActID is the random id of an act, drawn by its issuer before the first
// sending and the same in every resend. The zero value is not a valid id.
type ActID [16]byte

// IsZero reports whether the id is not known.
func (c ClusterID) IsZero() bool { return c == ClusterID{} }

// IsZero reports whether no id was drawn.
func (a ActID) IsZero() bool { return a == ActID{} }

// String gives 32 hexadecimal digits.
func (c ClusterID) String() string { return hex.EncodeToString(c[:]) }

// String gives 32 hexadecimal digits.
func (a ActID) String() string { return hex.EncodeToString(a[:]) }

// ParseClusterID reads what String writes; the empty string is the zero id.
// The error wraps ErrInvalid.
func ParseClusterID(s string) (ClusterID, error) {
	b, err := parseID("cluster id", s)
	return ClusterID(b), err
}

// ParseActID reads what String writes; the empty string is the zero id. The
// error wraps ErrInvalid.
func ParseActID(s string) (ActID, error) {
	b, err := parseID("act id", s)
	return ActID(b), err
}

func parseID(field, s string) (b [16]byte, err error) {
	if s == "" {
		return b, nil
	}
	if len(s) != 32 {
		return b, Errorf(ErrInvalid, "%s has %d characters; 32 hexadecimal digits are needed", field, len(s))
	}
	if _, err := hex.Decode(b[:], []byte(s)); err != nil {
		return [16]byte{}, Errorf(ErrInvalid, "%s %q is not hexadecimal", field, s)
	}
	return b, nil
}

// Digest is a rolling hash over all that a snapshot holds. Digests are
// equal exactly when states are.
type Digest [16]byte

// String gives 32 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }
