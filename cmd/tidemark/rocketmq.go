package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
	"github.com/tidemark-mq/tidemark/rocketmq"
)

// rocketmqCmd holds what looks at RocketMQ's own servers.
type rocketmqCmd struct {
	Diff rocketmqDiffCmd `cmd:"" help:"Compare what running brokers hold with the cluster."`
}

// tables is what commands ask brokers for beside the ends of queues.
type tables interface {
	Brokers(ctx context.Context) ([]rocketmq.Broker, error)
	ConsumerOffsets(ctx context.Context, b rocketmq.Broker, o offsetfile.Options) (*offsetfile.File, error)
}

// openAt connects to the broker or name server at an address.
func (s *session) openAt(addr string) (brokers, error) {
	open := s.open
	if open == nil {
		open = func(ctx context.Context, addr string) (brokers, error) {
			return rocketmq.Open(ctx, addr, rocketmq.WithTimeout(s.timeout))
		}
	}
	ctx, cancel := s.call()
	defer cancel()
	return open(ctx, addr)
}

// brokerError gives an error of RocketMQ's side the exit code that it has here,
// and says what it is about, if it does not. What ended the program stays what it is.
func brokerError(about string, err error) error {
	var lost interface{ Timeout() bool }
	code := codeOf(err)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &lost):
		code = exitUnreachable
	}
	if about == "" || strings.Contains(err.Error(), about) {
		return &exitError{code, err}
	}
	return exitf(code, "%s: %w", about, err)
}

// liveTable is what one broker holds.
type liveTable struct {
	broker rocketmq.Broker
	// name is the broker's name in the cluster.
	name string
	file *offsetfile.File
	// system counts the offsets of the broker's own groups that were left out of file.
	system int
	// notes are remarks for people.
	notes []string
}

// liveOptions say how running brokers are read.
type liveOptions struct {
	// broker, if not nil, is the one wanted of a name server's, or what the
	// broker at the address is called in the cluster; empty for no name.
	broker *string
	// system takes the groups too that a broker makes for its own work.
	system bool
	strict bool // skips names that RocketMQ's validators refuse
}

// eachLive reads what the broker at addr holds, or each of the masters that the
// name server there knows, one after the other.
func (s *session) eachLive(addr string, o liveOptions, each func(*liveTable) error) error {
	if o.broker != nil {
		if err := offset.ValidateName("--broker", *o.broker, true); err != nil {
			return err
		}
	}
	b, err := s.openAt(addr)
	if err != nil {
		return brokerError(addr, err)
	}
	defer b.Close() // nothing was sent that could be lost
	list, err := s.liveBrokers(b, addr, o.broker)
	if err != nil {
		return brokerError(addr, err)
	}
	for _, t := range list {
		if err := t.read(s.ctx, b, o); err != nil {
			return brokerError(addr, err)
		}
		if err := each(t); err != nil {
			return err
		}
	}
	return nil
}

// liveBrokers picks the brokers to read.
func (s *session) liveBrokers(b tables, addr string, name *string) (list []*liveTable, err error) {
	ctx, cancel := s.call()
	defer cancel()
	all, err := b.Brokers(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, x := range all {
		names = append(names, strconv.Quote(x.Name))
		t := &liveTable{broker: x, name: x.Name}
		switch {
		case name == nil || *name == x.Name:
		case x.Addr == addr: // of a broker that was asked itself
			t.name = *name
			t.notes = append(t.notes, fmt.Sprintf("the broker calls itself %q; it is taken for %q", x.Name, *name))
		default:
			continue
		}
		if x.ID != 0 {
			t.notes = append(t.notes, "this is a slave: what it holds is up to a minute older than its master's")
		}
		list = append(list, t)
	}
	switch {
	case len(all) == 0:
		return nil, offset.Errorf(offset.ErrNotFound, "the name server knows no master of any broker; give a broker's own address")
	case len(list) == 0:
		return nil, offset.Errorf(offset.ErrNotFound, "the name server knows no master of the broker %q; it knows %s", *name, strings.Join(names, ", "))
	}
	return list, nil
}

// read reads the table. It may take as long as it comes at the pace that the client demands.
func (t *liveTable) read(ctx context.Context, b tables, o liveOptions) (err error) {
	as := t.broker
	as.Name = t.name
	t.file, err = b.ConsumerOffsets(ctx, as, offsetfile.Options{StrictNames: o.strict})
	if err == nil && !o.system {
		t.file, t.system = withoutSystem(t.file)
	}
	return err
}

// systemPrefix begins the names of the groups that a broker makes for its own
// work, such as CID_RMQ_SYS_REVIVE_GROUP. They mean nothing to another broker.
const systemPrefix = "CID_RMQ_SYS_"

func system(group string) bool { return strings.HasPrefix(group, systemPrefix) }

// withoutSystem leaves out the broker's own groups, and counts their offsets.
func withoutSystem(f *offsetfile.File) (*offsetfile.File, int) {
	kept := &offsetfile.File{Report: f.Report}
	n := 0
	for _, e := range f.Entries {
		if system(e.Group) {
			n += len(e.Queues)
			continue
		}
		kept.Entries = append(kept.Entries, e)
	}
	kept.Report.Entries, kept.Report.Offsets = len(kept.Entries), kept.Offsets()
	return kept, n
}
