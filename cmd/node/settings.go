package main

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/server"
)

// settings are options that can be run with: whatever can be checked without
// writing anything has been.
type settings struct {
	options
	founders []node.Founder
	timers   node.Timers
	prefixes []node.PrefixLimit
	// home: the data folder is that of --dev, below the user's home; the folders
	// above it are made too.
	home bool
}

// settle fills in the options that depend on others, and checks all. It reads
// the file system and writes nothing.
func settle(o options) (*settings, error) {
	s := &settings{options: o}
	if err := s.fillDev(); err != nil {
		return nil, err
	}
	fillString(&s.Listen, ":7411")
	fillString(&s.PeerListen, ":7412")
	for _, check := range []func() error{s.checkName, s.checkData, s.checkCluster, s.checkAddresses, s.checkReach, s.checkSecurity, s.checkNumbers, s.checkPrefixes} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	timers, err := node.TimersNamed(s.Timers)
	if err != nil {
		return nil, wrong("--timers", "%w", err)
	}
	s.timers = timers
	return s, nil
}

func fillString(field *string, byDefault string) {
	if *field == "" {
		*field = byDefault
	}
}

// fillDev gives --dev its own defaults; what was set stays.
func (s *settings) fillDev() error {
	if !s.Dev {
		return nil
	}
	fillString(&s.Name, "dev")
	fillString(&s.Listen, "127.0.0.1:7411")
	fillString(&s.PeerListen, "127.0.0.1:7412")
	if s.InitialCluster == "" {
		fillString(&s.PeerAdvertise, s.PeerListen)
		s.InitialCluster = s.Name + "=" + s.PeerAdvertise
	}
	state, err := stateHome()
	switch {
	case err == nil:
		folder := filepath.Join(state, "tidemark-dev")
		fillString(&s.Data, folder)
		s.home = s.Data == folder
	case s.Data == "":
		return wrong("--data", "is missing, and --dev has no folder by default here (%w): name one, such as --data /tmp/tidemark", err)
	}
	return nil
}

// stateHome is where programs of this user keep their state, by the XDG Base
// Directory Specification.
func stateHome() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}

var memberName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func (s *settings) checkName() error {
	if s.Name == "" {
		return wrong("--name", "is missing: give each member of the cluster a name of its own, such as --name n1 (or try --dev)")
	}
	if !memberName.MatchString(s.Name) {
		return wrong("--name", "is %q; 1 to 64 letters, digits, '.', '-' and '_' are allowed", s.Name)
	}
	return nil
}

func (s *settings) checkData() error {
	if s.Data == "" {
		return wrong("--data", "is missing: name the folder that this member keeps its state in, such as --data /var/lib/tidemark")
	}
	dir, err := filepath.Abs(s.Data)
	if err != nil {
		return wrong("--data", "is %q: %w", s.Data, err)
	}
	s.Data = dir
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return wrong("--data", "is %q, which is a file; a folder is needed", dir)
		}
		return nil
	}
	if info, err := os.Stat(filepath.Dir(dir)); !s.home && (err != nil || !info.IsDir()) {
		return wrong("--data", "is %q, and its parent is no folder; make it first, or correct the path", dir)
	}
	return nil
}

// checkCluster reads the founders and what they say of this member's address.
func (s *settings) checkCluster() error {
	if s.InitialCluster == "" {
		return nil
	}
	founders, err := node.ParseFounders(s.InitialCluster)
	if err != nil {
		return wrong("--initial-cluster", "is %q: %w", s.InitialCluster, err)
	}
	own, seen := "", map[string]bool{}
	for _, f := range founders {
		if seen[f.Name] || seen[f.Peer] {
			return wrong("--initial-cluster", "is %q and names %s, or its address, twice", s.InitialCluster, f.Name)
		}
		seen[f.Name], seen[f.Peer] = true, true
		if f.Name == s.Name {
			own = f.Peer
		}
	}
	if own == "" {
		return wrong("--initial-cluster", "is %q and does not name this member; add %s=HOST:PORT, or leave the option out if the member joins a cluster that exists", s.InitialCluster, s.Name)
	}
	if s.PeerAdvertise != "" && s.PeerAdvertise != own {
		return wrong("--peer-advertise", "is %q, but --initial-cluster has %q for %s; make them the same", s.PeerAdvertise, own, s.Name)
	}
	s.PeerAdvertise, s.founders = own, founders
	return nil
}

func (s *settings) checkAddresses() error {
	taken := map[string]string{}
	for _, a := range []struct{ option, value string }{
		{"--listen", s.Listen}, {"--peer-listen", s.PeerListen}, {"--ops-listen", s.OpsListen},
	} {
		if a.value == "" {
			continue
		}
		_, port, err := splitAddress(a.option, a.value)
		if err != nil {
			return err
		}
		if other, ok := taken[a.value]; ok && port != 0 {
			return wrong(a.option, "is %q, and so is %s; each needs an address of its own", a.value, other)
		}
		taken[a.value] = a.option
	}
	if s.Pprof && s.OpsListen == "" {
		return wrong("--pprof", "needs --ops-listen: profiles are not shown where clients connect")
	}
	if err := advertised("--advertise", &s.Advertise, "--listen", s.Listen); err != nil {
		return err
	}
	return advertised("--peer-advertise", &s.PeerAdvertise, "--peer-listen", s.PeerListen)
}

// splitAddress takes an address apart; the port may be a number alone, and the
// host empty.
func splitAddress(option, value string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(value)
	if err != nil {
		return "", 0, wrong(option, "is %q, which is not HOST:PORT: %w", value, err)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, wrong(option, "is %q; the port must be a number up to 65535", value)
	}
	if len(value) > offset.MaxName || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == '@' || r == '/' || r == 0x7f }) {
		return "", 0, wrong(option, "is %q, which is not HOST:PORT", value)
	}
	return host, port, nil
}

// advertised checks an address that others shall reach, and takes it from the
// one listened on where it is not set and that will do. A port 0 that comes
// from there stands for the one that the system will choose.
func advertised(option string, value *string, from, listen string) error {
	host, port, err := splitAddress(from, listen)
	if err != nil {
		return err
	}
	if *value == "" {
		if isWildcard(host) {
			return wrong(option, "is missing: %s %q accepts on every address, so say at which one others reach this machine: %s HOST:%d", from, listen, option, port)
		}
		*value = listen
		return nil
	}
	host, port, err = splitAddress(option, *value)
	switch {
	case err != nil:
		return err
	case isWildcard(host):
		return wrong(option, "is %q, which nobody can connect to: give a host name or address of this machine", *value)
	case port == 0 && *value != listen:
		return wrong(option, "is %q; the port must not be 0", *value)
	}
	return nil
}

func isWildcard(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// checkReach refuses a loopback address that is given to members elsewhere:
// each would take it for itself.
func (s *settings) checkReach() error {
	elsewhere := ""
	for _, f := range s.founders {
		if host, _, err := net.SplitHostPort(f.Peer); err == nil && !isLoopback(host) && f.Name != s.Name {
			elsewhere = f.Name
		}
	}
	if elsewhere == "" {
		return nil
	}
	for _, a := range []struct{ option, value string }{{"--peer-advertise", s.PeerAdvertise}, {"--advertise", s.Advertise}} {
		if host, _, err := net.SplitHostPort(a.value); err == nil && isLoopback(host) {
			return wrong(a.option, "is %q, which is this machine alone, but %s of --initial-cluster is elsewhere; give an address that it can reach", a.value, elsewhere)
		}
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s *settings) checkNumbers() error {
	for _, n := range []struct {
		option     string
		value, max int64
	}{
		{"--limit-connections", int64(s.LimitConnections), 1 << 20},
		{"--limit-per-address", int64(s.LimitPerAddress), 1 << 20},
		{"--limit-calls", int64(s.LimitCalls), 1 << 24},
		{"--limit-calls-stream", int64(s.LimitCallsStream), 1 << 20},
		{"--limit-exports", int64(s.LimitExports), 1 << 10},
		{"--limit-waiting", int64(s.LimitWaiting), 1 << 24},
		{"--limit-reads", int64(s.LimitReads), 1 << 24},
		{"--limit-groups", int64(min(s.LimitGroups, 1<<62)), 1 << 32},
		{"--limit-queues", int64(min(s.LimitQueues, 1<<62)), 1 << 32},
	} {
		if n.value < 1 || n.value > n.max {
			return wrong(n.option, "is %d; 1 to %d are allowed", n.value, n.max)
		}
	}
	for _, b := range []struct {
		option          string
		value, min, max bytesize
	}{
		{"--limit-call-bytes", s.LimitCallBytes, 16 << 20, 1 << 40},
		{"--snapshot-log-bytes", s.SnapshotLogBytes, 1 << 20, 1 << 40},
		{"--snapshot-trail-bytes", s.SnapshotTrailBytes, 1 << 16, 1 << 40},
	} {
		if b.value < b.min || b.value > b.max {
			return wrong(b.option, "is %s; %s to %s are allowed", b.value, b.min, b.max)
		}
	}
	most := server.DefaultLimits().MaxTimeout
	if s.CallTimeout < time.Millisecond || s.CallTimeout > most {
		return wrong("--call-timeout", "is %s; 1ms to %s are allowed", s.CallTimeout, most)
	}
	if s.StopTimeout < 100*time.Millisecond || s.StopTimeout > time.Hour {
		return wrong("--stop-timeout", "is %s; 100ms to 1h are allowed", s.StopTimeout)
	}
	return nil
}

func (s *settings) checkPrefixes() error {
	if len(s.LimitPrefix) > 64 {
		return wrong("--limit-prefix", "is given %d times; at most 64 are allowed", len(s.LimitPrefix))
	}
	for _, p := range s.LimitPrefix {
		at := strings.LastIndexByte(p, '=')
		n, err := uint64(0), error(nil)
		if at > 0 {
			n, err = strconv.ParseUint(p[at+1:], 10, 64)
		}
		if at <= 0 || err != nil || offset.ValidateName("prefix", p[:at], false) != nil {
			return wrong("--limit-prefix", "is %q; PREFIX=N is needed, such as team-a-=100000", p)
		}
		s.prefixes = append(s.prefixes, node.PrefixLimit{Prefix: p[:at], Queues: n})
	}
	return nil
}
