package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/oklog/run"

	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/transport/server"
)

// daemon is one run of the program. It belongs to the goroutine of run.
type daemon struct {
	set     *settings
	log     hclog.Logger
	signals <-chan os.Signal

	secrets *secrets

	api, peer, ops net.Listener // ops is nil without --ops-listen
	node           *node.Node
	server         *server.Server
	opsHandler     http.Handler
}

// errSignal is why a run ended that was asked to.
var errSignal = errors.New("stopped by a signal")

// run listens, starts the member and its edges, and returns when all have
// ended: nil after a clean stop, else what ended it.
func (d *daemon) run() error {
	x, err := openSecrets(d.set, d.log)
	if err != nil {
		return err
	}
	d.secrets = x
	if err := d.listen(); err != nil {
		return err
	}
	defer d.closeListeners()
	if d.set.home {
		if err := d.keepState(); err != nil {
			return err
		}
	}
	if err := d.wire(); err != nil {
		return err
	}
	d.announce()
	if err := d.supervise(); err != nil && !errors.Is(err, errSignal) {
		return &logged{err, d.log, d.set.LogFormat == "json"}
	}
	d.log.Info("stopped")
	return nil
}

// keepState makes what lies above the folder of --dev, and says that it stays.
func (d *daemon) keepState() error {
	if err := os.MkdirAll(filepath.Dir(d.set.Data), 0o700); err != nil {
		return wrong("--data", "is missing, and the folder of --dev cannot be made (%w): name another, such as --data /tmp/tidemark", err)
	}
	if _, err := os.Stat(d.set.Data); err == nil {
		d.log.Info("continuing with what this folder holds; delete it, or name another with --data, to start afresh", "data", d.set.Data)
	} else {
		d.log.Info("what is written is kept in this folder, also for the next --dev", "data", d.set.Data)
	}
	return nil
}

// listen opens all ports before anything else happens, so that an address that
// cannot be had ends the start with nothing written.
func (d *daemon) listen() error {
	for _, l := range []struct {
		option, addr string
		to           *net.Listener
	}{
		{"--listen", d.set.Listen, &d.api},
		{"--peer-listen", d.set.PeerListen, &d.peer},
		{"--ops-listen", d.set.OpsListen, &d.ops},
	} {
		if l.addr == "" {
			continue
		}
		opened, err := net.Listen("tcp", l.addr)
		if err != nil {
			d.closeListeners()
			return wrong(l.option, "is %q, which cannot be listened on: %w", l.addr, err)
		}
		*l.to = opened
	}
	takePort(&d.set.Advertise, d.api)
	takePort(&d.set.PeerAdvertise, d.peer)
	for i, f := range d.set.founders {
		if f.Name == d.set.Name {
			takePort(&d.set.founders[i].Peer, d.peer)
		}
	}
	return nil
}

// takePort replaces a port 0 by the one that the system chose.
func takePort(addr *string, l net.Listener) {
	host, port, err := net.SplitHostPort(*addr)
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && err == nil && port == "0" {
		*addr = net.JoinHostPort(host, strconv.Itoa(tcp.Port))
	}
}

func (d *daemon) closeListeners() {
	for _, l := range []net.Listener{d.api, d.peer, d.ops} {
		if l != nil {
			_ = l.Close() // most are closed already by who served them
		}
	}
}

// wire makes the member and its edges; it does no I/O.
func (d *daemon) wire() error {
	entries := newEntryFigures()
	n, err := node.New(node.Config{
		Name: d.set.Name, Dir: d.set.Data,
		PeerListener: d.peer, AdvertisePeer: d.set.PeerAdvertise, AdvertiseAPI: d.set.Advertise,
		InitialCluster: d.set.founders, LogStore: store.LogStore(d.set.LogStore), Timers: d.set.timers, Timeout: d.set.CallTimeout,
		Limits: node.Limits{
			Groups: d.set.LimitGroups, Queues: d.set.LimitQueues, Prefixes: d.set.prefixes,
			Waiting: d.set.LimitWaiting, Reads: d.set.LimitReads,
		},
		Snapshots: node.Snapshots{LogBytes: uint64(d.set.SnapshotLogBytes), TrailingBytes: uint64(d.set.SnapshotTrailBytes)},
		Policy:    d.secrets.policy, PeerTLS: d.secrets.members,
		Logger: d.log, Version: version(), OnEntry: entries.entry, OnWrite: entries.write,
	})
	if err != nil {
		return fmt.Errorf("the options do not go together: %w", err)
	}
	d.node = n
	m, err := newMetrics(entries, func() []node.Metric { return append(n.Metrics(), d.secrets.metrics()...) })
	if err != nil {
		return err
	}
	config := server.Config{
		Service: n, Logger: d.log.Named("api"), Observe: m.observe, Version: version(),
		Metrics: m.handler(d.log),
		Limits: server.Limits{
			Connections: d.set.LimitConnections, PerAddress: d.set.LimitPerAddress,
			Calls: d.set.LimitCalls, CallsPerStream: d.set.LimitCallsStream,
			Bytes: int64(d.set.LimitCallBytes), Exports: d.set.LimitExports, Timeout: d.set.CallTimeout,
		},
	}
	d.secrets.serve(&config, n.Refused)
	if d.ops != nil {
		config.Metrics = nil
	}
	d.server = server.New(config)
	m.serve(d.server.Stats)
	if d.ops != nil {
		d.opsHandler = d.operators(m)
	}
	return nil
}

// operators is what --ops-listen shows.
func (d *daemon) operators(m *metrics) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", d.server.Pages())
	mux.Handle("GET /metrics", m.handler(d.log))
	if d.set.Pprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// announce says where the member is to be found.
func (d *daemon) announce() {
	args := []any{
		"version", version(), "name", d.set.Name, "data", d.set.Data,
		"listen", d.api.Addr(), "advertise", d.set.Advertise,
		"peer_listen", d.peer.Addr(), "peer_advertise", d.set.PeerAdvertise,
	}
	if d.ops != nil {
		args = append(args, "ops_listen", d.ops.Addr())
	}
	if d.set.Insecure {
		d.log.Warn("--insecure: whoever reaches this member's ports can listen in, or do everything")
	}
	d.log.Info("starting", args...)
}

// supervise runs all parts until one ends, which ends the others. The edges
// are stopped before the member: while streams are told and calls answered it
// goes on, and only then hands leadership over. A further signal, or the end
// of the time for stopping, ends the wait, and with it the process.
func (d *daemon) supervise() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var parts run.Group
	stopping := make(chan struct{})
	parts.Add(func() error { return d.awaitSignal(ctx) }, func(err error) {
		first, _, _ := strings.Cut(err.Error(), "\n") // the rest follows when all has ended
		d.log.Info("stopping", "cause", oneLine(first))
		close(stopping)
		cancel()
	})
	parts.Add(func() error { return d.server.Serve(d.api) }, func(error) { d.stopServer() })
	if d.ops != nil {
		parts.Add(func() error { return d.server.ServePages(d.ops, d.opsHandler) }, func(error) {})
	}
	follow, stopFollowing := context.WithCancel(context.Background())
	defer stopFollowing()
	parts.Add(func() error { return d.secrets.run(follow, d.log) }, func(error) { stopFollowing() })
	member, stopMember := context.WithCancel(context.Background())
	defer stopMember()
	parts.Add(func() error { return d.runNode(member) }, func(error) { stopMember() })

	ended := make(chan error, 1)
	go func() { ended <- parts.Run() }() // awaited below, but where the process ends first
	select {
	case err := <-ended:
		return err
	case <-stopping:
	}
	late := time.NewTimer(d.set.StopTimeout)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case s := <-d.signals:
		return fmt.Errorf("a further signal (%s) while stopping: ended at once; what was acknowledged is safe", s)
	case <-late.C:
		return fmt.Errorf("the stop took longer than --stop-timeout %s: ended at once; what was acknowledged is safe", d.set.StopTimeout)
	}
}

func (d *daemon) awaitSignal(ctx context.Context) error {
	select {
	case s := <-d.signals:
		return fmt.Errorf("%w: %s", errSignal, s)
	case <-ctx.Done():
		return nil
	}
}

// stopServer gives calls half of the time for stopping; the rest is the member's.
func (d *daemon) stopServer() {
	ctx, cancel := context.WithTimeout(context.Background(), d.set.StopTimeout/2)
	defer cancel()
	if err := d.server.Shutdown(ctx); err != nil {
		d.log.Warn("calls were cut off; their outcome is unknown to their callers", "error", err)
	}
}

// errMemberEnded stands for a member that ended without being asked to and without a cause.
var errMemberEnded = errors.New("the member ended by itself")

func (d *daemon) runNode(ctx context.Context) error {
	d.probeDisk(ctx)
	err := d.node.Run(ctx)
	if err == nil && ctx.Err() == nil {
		return errMemberEnded
	}
	return err
}
