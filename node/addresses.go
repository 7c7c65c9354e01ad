package node

import (
	"net"
	"strconv"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// ParseFounders reads "n1=host:7412,n2=host:7412", the form of
// --initial-cluster; empty is nil. The error wraps offset.ErrInvalid.
func ParseFounders(s string) ([]Founder, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var list []Founder
	for part := range strings.SplitSeq(s, ",") {
		name, address, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return nil, offset.Errorf(offset.ErrInvalid, "initial cluster: %q is not name=host:port", part)
		}
		f := Founder{Name: name, Peer: address}
		if err := f.validate(); err != nil {
			return nil, err
		}
		if list = append(list, f); len(list) > offset.MaxMembers {
			return nil, offset.Errorf(offset.ErrInvalid, "initial cluster: more than %d founders", offset.MaxMembers)
		}
	}
	return list, nil
}

func (f Founder) validate() error {
	if err := validateMemberName(f.Name); err != nil {
		return err
	}
	return validateAddress("raft address of "+f.Name, f.Peer)
}

// checkAddresses checks what this member listens on and advertises against the
// other founders, before anything is written; errors wrap offset.ErrInvalid
// and name the option. Names are not resolved: one that does not exist yet is
// tried again at each dial.
func checkAddresses(name, listen, advertise string, initial []Founder) error {
	const way = "set the advertised raft address (--peer-advertise) to a host name or address at which the other members reach this machine"
	host, err := checkAdvertised(advertise)
	if err != nil {
		return offset.Errorf(offset.ErrInvalid, "the raft port listens at %s and advertises %q: %v; %s", listen, advertise, err, way)
	}
	seen := map[string]string{}
	for _, f := range initial {
		other, err := checkAdvertised(f.Peer)
		if err != nil {
			return offset.Errorf(offset.ErrInvalid, "initial cluster (--initial-cluster): the address %q of %s: %v", f.Peer, f.Name, err)
		}
		if twin, twice := seen[strings.ToLower(f.Peer)]; twice {
			return offset.Errorf(offset.ErrInvalid, "initial cluster (--initial-cluster): %s and %s have the same address %s", twin, f.Name, f.Peer)
		}
		seen[strings.ToLower(f.Peer)] = f.Name
		switch {
		case f.Name == name && f.Peer != advertise:
			return offset.Errorf(offset.ErrInvalid, "this member advertises %s (--peer-advertise), but the initial cluster (--initial-cluster) has %s for %s: make them the same", advertise, f.Peer, name)
		case f.Name == name:
		case strings.EqualFold(f.Peer, advertise):
			return offset.Errorf(offset.ErrInvalid, "this member advertises %s, which is the address of %s in the initial cluster; %s", advertise, f.Name, way)
		case loopback(host) && !loopback(other):
			return offset.Errorf(offset.ErrInvalid, "this member advertises %s, which every other machine takes for itself, while %s is at %s; %s", advertise, f.Name, f.Peer, way)
		case !loopback(host) && loopback(other):
			return offset.Errorf(offset.ErrInvalid, "initial cluster (--initial-cluster): the address %s of %s is this very machine, while this member is at %s: give %s an address that other machines reach", f.Peer, f.Name, advertise, f.Name)
		}
	}
	return nil
}

// checkAdvertised checks one host:port that others are to dial, and returns its host.
func checkAdvertised(s string) (host string, err error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", offset.Errorf(offset.ErrInvalid, "it is not host:port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", offset.Errorf(offset.ErrInvalid, "port %q is no number from 1 to 65535", port)
	}
	bad := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`@/\"'=,`, r) }
	switch ip := net.ParseIP(host); {
	case host == "":
		return "", offset.Errorf(offset.ErrInvalid, "it names no host")
	case len(host) > 253 || strings.ContainsFunc(host, bad):
		return "", offset.Errorf(offset.ErrInvalid, "%q is no host name", host)
	case ip != nil && ip.IsUnspecified():
		return "", offset.Errorf(offset.ErrInvalid, "%s means any address, and reaches nobody", host)
	case ip != nil && ip.IsMulticast():
		return "", offset.Errorf(offset.ErrInvalid, "%s is a multicast address", host)
	}
	return host, nil
}

// loopback reports whether a host is the machine itself, on every machine.
func loopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}
