package contexts

import (
	"bytes"
	"encoding/json"
)

// Credentials are how a cluster is spoken to. They name files, and hold no
// secret themselves.
type Credentials struct {
	// TLS with nodes that have certificates of the system's CAs; implied by CA.
	TLS bool `json:"tls,omitempty"`
	// CA is a file of CA certificates, Cert and Key those of a client's own.
	CA   string `json:"ca,omitempty"`
	Cert string `json:"cert,omitempty"`
	Key  string `json:"key,omitempty"`
	// TokenFile holds a token, which InsecureToken sends without TLS, too.
	TokenFile     string `json:"tokenFile,omitempty"`
	InsecureToken bool   `json:"insecureToken,omitempty"`
}

// entry is a context in the file: a list of endpoints, as it has always been,
// or, with credentials, an object.
type entry struct {
	Endpoints []string `json:"endpoints"`
	Credentials
}

func (e entry) context(name string) Context { return Context{name, e.Endpoints, e.Credentials} }

// plain is an entry without methods of its own.
type plain entry

// MarshalJSON writes the shorter form where that is enough.
func (e entry) MarshalJSON() ([]byte, error) {
	if e.Credentials == (Credentials{}) {
		return json.Marshal(e.Endpoints)
	}
	return json.Marshal(plain(e))
}

// UnmarshalJSON reads both forms; unknown keys are refused.
func (e *entry) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, &e.Endpoints)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(e))
}
