package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// app is the command line. The flags of every command come last in each help
// text, behind the command's own.
type app struct {
	Endpoints []string      `help:"API addresses (host:port) of members; any one will do. By default those of the context in use, or 127.0.0.1:7411." env:"TIDEMARK_ENDPOINTS" sep:"," placeholder:"HOST:PORT" group:"every"`
	Context   string        `help:"Saved context whose endpoints are asked (see \"tidemark contexts\")." env:"TIDEMARK_CONTEXT" placeholder:"NAME" group:"every"`
	Timeout   time.Duration `help:"How long one call may take, retries included." env:"TIDEMARK_TIMEOUT" default:"10s" group:"every"`
	Output    string        `help:"Form of the results: ${enum}. 64-bit numbers are strings in json and yaml." short:"o" enum:"table,json,yaml" default:"table" group:"every"`
	credentials

	Get      getCmd      `cmd:"" help:"Show the offsets of a group, a topic or a queue."`
	Commit   commitCmd   `cmd:"" help:"Commit one offset, as a consumer does: it raises, and never lowers."`
	Group    groupCmd    `cmd:"" help:"Look at consumer groups, and move, copy and remove their offsets."`
	Topic    topicCmd    `cmd:"" help:"List topics, and the groups of a topic."`
	Import   importCmd   `cmd:"" help:"Bring in offsets from the files of brokers, consumers and Kafka, and from CSV."`
	Export   exportCmd   `cmd:"" help:"Write offsets to a file that brokers, consumers or Kafka read, or to CSV."`
	RocketMQ rocketmqCmd `cmd:"" name:"rocketmq" help:"Look at RocketMQ's own brokers."`
	Cluster  clusterCmd  `cmd:"" help:"Look at the cluster, and change its members."`
	Check    checkCmd    `cmd:"" help:"Look for trouble in the members, in latencies, in a disk."`
	Top      topCmd      `cmd:"" help:"Show what moves: rates and ages of groups, and each member."`
	Contexts contextsCmd `cmd:"" help:"Save the endpoints of clusters under names."`
	Cert     certCmd     `cmd:"" help:"Make certificates for a CA, for members and for callers."`
	Token    tokenCmd    `cmd:"" help:"Make a token for a caller, and the line by which nodes know it."`
	Dump     dumpCmd     `cmd:"" help:"Show what the files of a stopped node hold."`
	Version  versionCmd  `cmd:"" help:"Show the version of this program."`

	Completion completionCmd `cmd:"" help:"Print what a shell reads to complete this command line."`
	Man        manCmd        `cmd:"" help:"Print the manual page of this program."`
}

// streams are what a run has of the machine: where it writes to, and more.
type streams struct {
	out, err io.Writer
	// terminal tells whether err is one, screen whether out is.
	terminal, screen bool
	// wall is the clock; nil: the machine's.
	wall func() time.Time
	// saved is the file of saved contexts; empty: the user's own.
	saved string
	// open connects to RocketMQ's brokers; nil: over TCP.
	open opener
}

// cluster is what the commands need of a client.
type cluster interface {
	Commit(ctx context.Context, id offset.ClusterID, list []offset.Commit) ([]offset.Verdict, offset.Meta, error)
	Fetch(ctx context.Context, at offset.ReadAt, keys ...offset.Key) ([]offset.KeyState, offset.Meta, error)
	List(ctx context.Context, l offset.List) (offset.Page, error)
	Claims(ctx context.Context, q offset.Claims) ([]offset.Claim, offset.Meta, error)
	Export(ctx context.Context, l offset.List, yield func(offset.Page) error) error
	Act(ctx context.Context, a offset.Act) (offset.ActResult, offset.Meta, error)
	Status(ctx context.Context, addr string) (offset.Status, error)
	AddMember(ctx context.Context, id, address string) (offset.Meta, error)
	PromoteMember(ctx context.Context, id string) (offset.Meta, error)
	RemoveMember(ctx context.Context, id string) (offset.Meta, error)
	Transfer(ctx context.Context, to string) (string, offset.Meta, error)
	Snapshot(ctx context.Context, addr string) (index, bytes uint64, m offset.Meta, err error)
	Backup(ctx context.Context, addr string, at offset.ReadAt, yield func(offset.BackupPart) error) error
	RaiseLevel(ctx context.Context, level uint8) (offset.Meta, error)
	Close() error
}

// dialer connects to the cluster that the endpoints belong to; it does no I/O yet.
type dialer func(endpoints []string) (cluster, error)

func dial(endpoints []string) (cluster, error) { return client.New(endpoints) }

// session is one run of one command.
type session struct {
	streams
	cluster
	connect dialer
	ctx     context.Context
	timeout time.Duration
	format  string
	// own are the flags for TLS and who one is.
	own *credentials
	// announced: a call of this run, or of a copy, takes long, and that was said.
	announced *atomic.Bool
	// changed: what the command was to change is done, whatever fails behind it.
	changed bool
}

// note tells people something; it is no result.
func (s *session) note(format string, args ...any) {
	fmt.Fprintf(s.err, format+"\n", args...)
}

// newParser makes the parser of the command line; exit is called after a help text.
func newParser(a *app, st streams, exit func(int)) *kong.Kong {
	parser, err := kong.New(a,
		kong.Name("tidemark"),
		kong.Description("The command line of a Tidemark cluster."),
		kong.Writers(st.out, st.err),
		kong.Exit(exit),
		kong.ExplicitGroups([]kong.Group{{Key: "every", Title: "Flags of every command:"}}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
	)
	if err != nil {
		panic("tidemark: the command line is not well formed: " + err.Error())
	}
	withExamples(parser.Model)
	return parser
}

// run is one run of the program. It returns the exit code.
func run(ctx context.Context, args []string, st streams, connect dialer) int {
	var (
		a      app
		helped bool
	)
	parser := newParser(&a, st, func(int) { helped = true })
	args = joined(args)
	if err := text(args); err != nil {
		fmt.Fprintf(st.err, "tidemark: %s\n", oneLine(err))
		return exitBadInput
	}
	command, err := parser.Parse(args)
	switch {
	case helped:
		return exitOK
	case err != nil:
		return usage(st, args, err)
	case a.Timeout <= 0:
		return usage(st, args, fmt.Errorf("--timeout is %s; it must be above 0", a.Timeout))
	}
	s := &session{streams: st, connect: connect, ctx: ctx, timeout: a.Timeout, format: a.Output, announced: new(atomic.Bool), own: &a.credentials}
	return s.finish(s.execute(&a, command))
}

// offline are the commands that need no cluster.
var offline = []string{"dump", "version", "contexts", "completion", "man", "check disk", "check backup", "cluster rescue", "cert", "token"}

// execute connects and runs the command.
func (s *session) execute(a *app, command *kong.Context) error {
	if err := narrowing(command); err != nil {
		return err
	}
	words := command.Command() + " "
	if slices.ContainsFunc(offline, func(c string) bool { return strings.HasPrefix(words, c+" ") }) {
		return command.Run(s)
	}
	asked, err := s.reach(a, command)
	if err != nil {
		return err
	}
	if err := s.secured(a.credentials.over(asked.Credentials)); err != nil {
		return err
	}
	c, err := s.connect(asked.Endpoints)
	if err != nil {
		return fmt.Errorf("--endpoints: %w", err)
	}
	defer c.Close()
	s.cluster = c
	return command.Run(s)
}
