// Package stand sets up what the proofs against real brokers need: a name
// server, brokers of any version, with our jar or without, and where the jar is
// a Tidemark cluster of real processes.
package stand

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
)

// startClass is what starts a broker with our jar.
const startClass = "io.github.tidemarkmq.broker.TidemarkBrokerStartup"

// Where tells where a broker keeps its offsets.
type Where string

// The ways to keep offsets: RocketMQ's own, and ours.
const (
	Plain    Where = "plain"
	Tidemark Where = "tidemark"
)

// Stand is one name server, its brokers, and the cluster that keeps their
// offsets. All end with the test.
type Stand struct {
	testing.TB
	// Where tells where brokers keep their offsets, unless one is asked for otherwise.
	Where Where
	// Version is that of the name server, and of brokers and tools.
	Version javaparts.Version
	// Names is the name server.
	Names *javaparts.NameServer
	// Cluster has three nodes. It is nil where all is plain.
	Cluster *local.Cluster

	tools *javaparts.Program // of mqadmin; nil before its first command
}

// New starts a name server and, unless all is plain, a cluster.
func New(tb testing.TB, v javaparts.Version, w Where) *Stand {
	tb.Helper()
	s := &Stand{TB: tb, Version: v, Where: w}
	if w == Tidemark {
		Jar(tb) // fails before anything takes time
		s.Cluster = local.Start(tb, 3)
	}
	s.Names = javaparts.StartNameServer(tb, v)
	return s
}

// Both runs a scenario with brokers as RocketMQ makes them, and with brokers
// that have our jar: the same, so that their figures can be compared.
func Both(t *testing.T, v javaparts.Version, scenario func(t *testing.T, s *Stand)) {
	t.Helper()
	for _, w := range []Where{Plain, Tidemark} {
		t.Run(string(v)+" "+string(w), func(t *testing.T) { scenario(t, New(t, v, w)) })
	}
}

// Broker starts a broker with settings of its own, some or none, and waits
// until it is registered.
func (s *Stand) Broker(config map[string]string, options ...javaparts.BrokerOption) *javaparts.Broker {
	s.Helper()
	b := s.NewBroker(config, options...)
	b.Start()
	return b
}

// NewBroker is a broker as Broker makes it, not started.
func (s *Stand) NewBroker(config map[string]string, options ...javaparts.BrokerOption) *javaparts.Broker {
	s.Helper()
	all := make(map[string]string)
	if s.Where == Tidemark {
		maps.Copy(all, s.Settings())
		options = append([]javaparts.BrokerOption{WithJar(s)}, options...)
	}
	maps.Copy(all, config)
	return javaparts.NewBroker(s, s.Version, s.Names, all, options...)
}

// Settings are what a broker with the jar needs in its configuration.
func (s *Stand) Settings() map[string]string {
	return map[string]string{"tidemarkEndpoints": strings.Join(s.Cluster.Endpoints(), ",")}
}

// WithJar starts a broker by our class. The mistake of the variable
// TIDEMARK_BROKER_MISTAKE is handed to it; only the jar of make mutants makes it.
func WithJar(tb testing.TB) javaparts.BrokerOption {
	tb.Helper()
	ours := javaparts.StartClass(startClass, Jar(tb))
	mistake := javaparts.Property("tidemark.mistake", os.Getenv("TIDEMARK_BROKER_MISTAKE"))
	return func(b *javaparts.Broker) {
		ours(b)
		mistake(b)
	}
}

// Jar is the path of our jar: that of the variable TIDEMARK_BROKER_JAR, or what
// "make jar" has built.
func Jar(tb testing.TB) string {
	tb.Helper()
	if elsewhere := os.Getenv("TIDEMARK_BROKER_JAR"); elsewhere != "" {
		return elsewhere
	}
	path := filepath.Join(local.Root(), "bin", "tidemark-rocketmq-broker.jar")
	if _, err := os.Stat(path); err != nil {
		if _, missing := exec.LookPath("mvn"); missing != nil {
			tb.Skip("needs mvn: not installed")
		}
		tb.Fatalf("the broker's jar is missing; build it: make jar (%v)", err)
	}
	return path
}

// Admin runs a command of RocketMQ's mqadmin and gives what it printed. The
// address of the name servers is added.
func (s *Stand) Admin(args ...string) string {
	s.Helper()
	if s.tools == nil {
		home := s.TempDir()
		conf := filepath.Join(home, "conf")
		err := os.Mkdir(conf, 0o700)
		if err == nil { // 4.9 wants to be told where to log: nowhere
			err = os.WriteFile(filepath.Join(conf, "logback_tools.xml"), []byte("<configuration/>"), 0o600)
		}
		if err != nil {
			s.Fatal(err)
		}
		s.tools = javaparts.Source{
			Set: s.Version.Set(), File: filepath.Join(local.Root(), "interop", "tools", "Tools.java"),
			Options: []string{"-Duser.home=" + home, "-Drocketmq.home.dir=" + home},
		}.Start(s)
	}
	return strings.Join(s.tools.Ask(append(args, "-n", s.Names.Addr)...), "\n")
}

// Diff is what "tidemark rocketmq diff" says of a broker: exit code 0 where its
// table and the cluster are equal, 6 where they differ. It compares again for
// up to wait ("10s"). flags are further ones, as --group.
func (s *Stand) Diff(b *javaparts.Broker, wait string, flags ...string) local.Result {
	s.Helper()
	return s.Cluster.Tidemark(append([]string{"rocketmq", "diff", b.Addr, "--wait", wait}, flags...)...)
}
