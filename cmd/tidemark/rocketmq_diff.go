package main

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// rocketmqDiffCmd compares brokers with the cluster.
type rocketmqDiffCmd struct {
	Address string        `arg:"" help:"A broker, or a name server, whose brokers' masters are all compared." placeholder:"HOST:PORT"`
	Broker  *string       `help:"Only this broker of a name server's; or the name that the broker at the address has in the cluster, if it differs from its own; empty for keys without a broker." placeholder:"NAME"`
	Group   []string      `help:"Only this group; may be given more than once." placeholder:"GROUP" sep:"none"`
	System  bool          `help:"Also compare the groups that a broker makes for its own work (CID_RMQ_SYS_...)."`
	Wait    time.Duration `help:"Compare again, every second, until all is equal or this time is over." placeholder:"DURATION"`
	Limit   int           `help:"List at most this many offsets that are not equal, up to 10000; all are counted." default:"100"`
}

// mostRows is how many unequal offsets one comparison lists.
const mostRows = 10_000

// diffResult is what a comparison found.
type diffResult struct {
	Address string       `json:"address"`
	Equal   bool         `json:"equal"`
	Brokers []brokerDiff `json:"brokers"`
	// Rows are the first offsets that are not equal, by broker and in the order of keys.
	Rows []diffRow `json:"rows"`
	// More: there are further ones.
	More bool `json:"more"`

	limit int
}

// brokerDiff counts what was found of one broker.
type brokerDiff struct {
	Broker  string `json:"broker"`
	Address string `json:"address"`
	// Index is that of the state compared with.
	Index uint64 `json:"index,string"`
	// Same, Different, OnlyBroker and OnlyCluster count offsets.
	Same        int `json:"same"`
	Different   int `json:"different"`
	OnlyBroker  int `json:"onlyBroker"`
	OnlyCluster int `json:"onlyCluster"`
	// System counts what the broker holds of its own groups and was not compared.
	System int `json:"system"`
	// Skipped are places of the broker's table that hold no offset, such as -1,
	// or one that the cluster can't hold; SkippedTotal counts them.
	SkippedTotal int               `json:"skippedTotal"`
	Skipped      []offsetfile.Skip `json:"skipped,omitempty"`
	Notes        []string          `json:"notes,omitempty"`
}

// diffRow is an offset that is not the same on both sides; nil where one has none.
type diffRow struct {
	Group   string `json:"group"`
	Topic   string `json:"topic"`
	Broker  string `json:"broker"`
	Queue   int32  `json:"queue"`
	Live    *int64 `json:"brokerOffset,string"`
	Cluster *int64 `json:"clusterOffset,string"`
}

func (r *diffResult) table(t *table) {
	for _, b := range r.Brokers {
		t.line("%s at %s, against index %d: %d the same, %d different, %d only at the broker, %d only in the cluster",
			shown(b.Broker), b.Address, b.Index, b.Same, b.Different, b.OnlyBroker, b.OnlyCluster)
		for _, n := range b.Notes {
			t.line("note: %s", n)
		}
		if b.System > 0 {
			t.line("not compared: %s of the broker's own groups (--system)", plural(b.System, "offset", "offsets"))
		}
		skippedTable(t, b.Skipped, b.SkippedTotal)
	}
	if len(r.Rows) == 0 {
		return
	}
	t.row("GROUP", "TOPIC", "BROKER", "QUEUE", "AT BROKER", "IN CLUSTER", "DIFFERENCE")
	for _, w := range r.Rows {
		difference := ""
		if w.Live != nil && w.Cluster != nil {
			difference = fmt.Sprintf("%+d", *w.Cluster-*w.Live)
		}
		t.row(shown(w.Group), shown(w.Topic), shown(w.Broker), num(w.Queue), orNone(w.Live), orNone(w.Cluster), difference)
	}
	if r.More {
		t.line("and more; raise --limit to see them")
	}
}

func orNone(n *int64) string {
	if n == nil {
		return "-"
	}
	return num(*n)
}

// skippedTable lists places of a file or table that were left out.
func skippedTable(t *table, list []offsetfile.Skip, total int) {
	for i, k := range list {
		if i == listed {
			t.line("skipped: %d more; see -o json", total-listed)
			return
		}
		t.line("skipped: %s", k)
	}
}

// Run compares, again while --wait lasts, and prints the last comparison.
func (c *rocketmqDiffCmd) Run(s *session) error {
	if err := c.check(); err != nil {
		return err
	}
	until := time.Now().Add(c.Wait)
	for {
		r, err := c.compare(s)
		if err != nil {
			return err
		}
		if !r.Equal && time.Now().Before(until) {
			if err := s.pause(time.Second); err != nil {
				return err
			}
			continue
		}
		if err := s.print(r); err != nil || r.Equal {
			return err
		}
		return exitf(exitPartial, "brokers and cluster are not equal: %s", plural(r.unequal(), "offset differs or is on one side only", "offsets differ or are on one side only"))
	}
}

// pause waits, or ends with the program.
func (s *session) pause(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

func (c *rocketmqDiffCmd) check() error {
	for _, g := range c.Group {
		if err := offset.ValidateName("--group", g, false); err != nil {
			return err
		}
	}
	if c.Limit < 0 || c.Limit > mostRows {
		return offset.Errorf(offset.ErrInvalid, "--limit %d; 0 to %d are allowed", c.Limit, mostRows)
	}
	if c.Wait < 0 {
		return offset.Errorf(offset.ErrInvalid, "--wait %s is negative", c.Wait)
	}
	return nil
}

// compare reads each broker, and then the cluster: what is committed meanwhile
// may be newer in the cluster.
func (c *rocketmqDiffCmd) compare(s *session) (*diffResult, error) {
	r := &diffResult{Address: c.Address, Rows: []diffRow{}, limit: c.Limit}
	err := s.eachLive(c.Address, liveOptions{broker: c.Broker, system: c.System}, func(l *liveTable) error {
		return c.compareOne(s, l, r)
	})
	if err != nil {
		return nil, err
	}
	if len(c.Group) > 0 && r.nothing() {
		return nil, offset.Errorf(offset.ErrNotFound, "neither a broker nor the cluster has an offset of %s %s", map[bool]string{true: "group", false: "the groups"}[len(c.Group) == 1], shown(strings.Join(c.Group, ", ")))
	}
	r.Equal = r.unequal() == 0
	return r, nil
}

// selects tells whether a group is compared.
func (c *rocketmqDiffCmd) selects(group string) bool {
	return (len(c.Group) == 0 || slices.Contains(c.Group, group)) && (c.System || !system(group))
}

// compareOne walks through what a broker holds and what the cluster holds of
// its name, both in the order of keys; the cluster's is of one root.
func (c *rocketmqDiffCmd) compareOne(s *session, l *liveTable, r *diffResult) error {
	d := brokerDiff{Broker: l.name, Address: l.broker.Addr, System: l.system, Notes: append(l.notes, l.file.Report.Notes...)}
	d.Skipped, d.SkippedTotal = c.skips(&l.file.Report)
	w := &diffWalk{d: &d, r: r, selects: c.selects}
	next, stop := iter.Pull(l.file.All())
	defer stop()
	w.next = next
	w.advance()
	all := offset.List{What: offset.ListKeys, HasBroker: true, Broker: l.name}
	if len(c.Group) == 1 {
		all.Group = c.Group[0]
	}
	err := s.export(all, func(p offset.Page) error {
		d.Index = p.Meta.Index
		for _, k := range p.Keys {
			if c.selects(k.Key.Group) {
				w.cluster(k.Key, k.Position.Offset)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for w.more {
		w.onlyLive()
	}
	r.Brokers = append(r.Brokers, d)
	return nil
}

// skips are the skipped places of what is compared. A key that names no group
// is of none.
func (c *rocketmqDiffCmd) skips(rep *offsetfile.Report) (list []offsetfile.Skip, total int) {
	for _, k := range rep.Skipped {
		if _, group, ok := strings.Cut(k.Key, "@"); ok && c.selects(group) || !ok && len(c.Group) == 0 {
			list = append(list, k)
		}
	}
	return list, rep.SkippedTotal - len(rep.Skipped) + len(list)
}

// unequal counts what is not the same. What the cluster cannot hold is only at
// the broker; a negative offset means that there is none, and is no difference.
func (r *diffResult) unequal() (n int) {
	for i := range r.Brokers {
		b := &r.Brokers[i]
		n += b.Different + b.OnlyBroker + b.OnlyCluster
		for _, k := range b.Skipped {
			if k.Value == nil || *k.Value >= 0 {
				n++
			}
		}
	}
	return n
}

// nothing tells that there was nothing to compare.
func (r *diffResult) nothing() bool {
	return !slices.ContainsFunc(r.Brokers, func(b brokerDiff) bool {
		return b.Same+b.Different+b.OnlyBroker+b.OnlyCluster+b.SkippedTotal > 0
	})
}

// diffWalk goes through a broker's offsets beside the cluster's.
type diffWalk struct {
	d       *brokerDiff
	r       *diffResult
	selects func(group string) bool
	next    func() (offset.Target, bool)
	// live is the broker's next offset, if more.
	live offset.Target
	more bool
}

// advance goes to the broker's next offset that is compared.
func (w *diffWalk) advance() {
	for {
		if w.live, w.more = w.next(); !w.more || w.selects(w.live.Key.Group) {
			return
		}
	}
}

// cluster takes the cluster's next offset.
func (w *diffWalk) cluster(k offset.Key, n int64) {
	for w.more && w.live.Key.Compare(k) < 0 {
		w.onlyLive()
	}
	switch {
	case !w.more || w.live.Key != k:
		w.d.OnlyCluster++
		w.row(k, nil, &n)
	case w.live.Offset == n:
		w.d.Same++
		w.advance()
	default:
		w.d.Different++
		live := w.live.Offset
		w.row(k, &live, &n)
		w.advance()
	}
}

// onlyLive takes the broker's next offset as one that the cluster does not have.
func (w *diffWalk) onlyLive() {
	w.d.OnlyBroker++
	live := w.live.Offset
	w.row(w.live.Key, &live, nil)
	w.advance()
}

func (w *diffWalk) row(k offset.Key, live, cluster *int64) {
	if len(w.r.Rows) >= w.r.limit {
		w.r.More = true
		return
	}
	w.r.Rows = append(w.r.Rows, diffRow{k.Group, k.Topic, k.Broker, k.QueueID, live, cluster})
}
