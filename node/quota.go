package node

import (
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// quota checks what a request would add against the limits, before it is
// proposed: never in Apply, where every member must decide alike. What is
// admitted counts as if it added all that it names; only when that sum comes
// within a margin of the limit is the newest root taken, and the request looked at
// key by key. While what is in flight may take the room that is left, callers that
// add keys are told to try again. Of a cut request only the first part is in flight
// here, so the rest of it may pass a limit. It belongs to the proposer's goroutine.
type quota struct {
	limits  *Limits
	machine *machine
	// unapplied is how many of the requests admitted last may not be in the
	// newest root yet; nil: none.
	unapplied func() int
	newest    lately
	// term is the one in which this member leads with all earlier entries applied, 0
	// for none: counts of another one are worth nothing. nil: always the same.
	term func() uint64
	now  uint64 // the term of the counts
	// under is what the request that is looked at counts for under each prefix.
	under []uint64

	// held is what the table held when it was counted, swapped what it would have
	// held with the replace under way swapped in, and added is what was admitted
	// since. No root is kept: that would hold the memory of all that has changed since.
	counted       bool
	held, swapped held
	added         uint64
	prefixes      []prefixCount
	brokers       brokerQuota
	// placed is how many brokers the request that is looked at adds to groups.
	placed map[string]int
}

// held counts what a table holds.
type held struct{ queues, groups uint64 }

// prefixCount is the count of queues under one prefix, and what was admitted since.
type prefixCount struct {
	PrefixLimit
	newest  lately
	counted bool
	index   uint64 // of the root that queues were counted in
	queues  uint64
	// staged is how many more the replace of had staged then.
	of     offset.ActID
	staged uint64
	// added is what was admitted since, staging what chunks of an import are of it.
	added, staging uint64
	// rest is until when they are not counted again.
	rest time.Time
}

// countRest is how many times as long as a count took the next one waits: a caller
// that is at a limit, and keeps trying, must not hold up the commits of others.
const countRest = 20

// lately holds how many keys each of the requests admitted last counts for, in their
// order.
type lately []uint64

// remember adds a request; of those before it, the last unapplied ones still matter.
func (l *lately) remember(n uint64, unapplied int) {
	if k := unapplied; len(*l) >= 2*k+64 {
		*l = append((*l)[:0], (*l)[len(*l)-k:]...)
	}
	*l = append(*l, n)
}

// flying is how many keys the requests count for that the newest root may lack. How
// many requests these are must be asked before that root is taken.
func (l lately) flying(unapplied int) (n uint64) {
	for _, k := range l[max(0, len(l)-unapplied):] {
		n += k
	}
	return n
}

func newQuota(l *Limits, state *machine) *quota {
	q := &quota{limits: l, machine: state, under: make([]uint64, len(l.Prefixes))}
	for _, p := range l.Prefixes {
		q.prefixes = append(q.prefixes, prefixCount{PrefixLimit: p})
	}
	return q
}

// admit returns nil, or an error that wraps offset.ErrLimit, or offset.ErrBusy where
// the limit may be reached by what is in flight.
func (q *quota) admit(r *entry.Request) error {
	q.renew()
	adds, err := q.room(r)
	if err != nil {
		return err
	}
	late := q.late()
	q.added += adds
	q.newest.remember(adds, late)
	q.brokers.remember(q.placed)
	for i, n := range q.under {
		p := &q.prefixes[i]
		p.added += n
		if chunk(r) {
			p.staging += n
		}
		p.newest.remember(n, late)
	}
	return nil
}

// renew forgets what was counted in another term: others have led since.
func (q *quota) renew() {
	if q.term == nil {
		return
	}
	term := q.term()
	if term == q.now {
		return
	}
	q.now, q.counted, q.newest = term, false, q.newest[:0]
	q.brokers = brokerQuota{}
	for i := range q.prefixes {
		p := &q.prefixes[i]
		p.counted, p.newest = false, p.newest[:0]
	}
}

// late is how many of the requests admitted last the newest root may lack.
func (q *quota) late() int {
	if q.unapplied == nil {
		return 0
	}
	return q.unapplied()
}

// room returns how many keys a request counts for, and sets under and placed, if it is within
// the limits.
func (q *quota) room(r *entry.Request) (adds uint64, err error) {
	if err = q.claim(r); err != nil {
		return 0, err
	}
	if sentAgain(r, q.machine.Root()) {
		clear(q.under)
		q.placed = nil
		return 0, nil
	}
	if adds, err = q.total(r); err != nil {
		return 0, err
	}
	for i := range q.prefixes {
		if q.under[i], err = q.prefix(&q.prefixes[i], r); err != nil {
			return 0, err
		}
	}
	q.placed, err = q.brokers.room(r, q.machine, q.late)
	return adds, err
}

// maxGroupClaims is how many groups may be claimed. Claims are never forgotten, and a
// right on one prefix suffices to claim a group: without a bound of their own, groups
// could take the place of all brokers.
const maxGroupClaims = offset.MaxClaims / 2

// claim refuses the first claim of a group where too many have one. What is in flight
// may pass the bound by a few.
func (q *quota) claim(r *entry.Request) error {
	if r.Act == nil || r.Act.Take == nil || r.Act.Take.ByBroker {
		return nil
	}
	root := q.machine.Root()
	if _, known := root.Claimed(false, r.Act.Take.Name); known || root.ClaimedGroups() < maxGroupClaims {
		return nil
	}
	return offset.Errorf(offset.ErrLimit, "%d groups have been claimed, which is as many as may be: claims are never forgotten, and the other %d are left to brokers; claim a broker, or a group that has been claimed before", maxGroupClaims, offset.MaxClaims-maxGroupClaims)
}

func (q *quota) total(r *entry.Request) (adds uint64, err error) {
	n := named(r, q.machine)
	if n == 0 || q.fits(n) {
		return n, nil
	}
	flying := q.newest.flying(q.late())
	root := q.machine.Root()
	q.counted, q.held, q.swapped, q.added = true, held{root.Queues(), root.Groups()}, afterSwap(root), flying
	if q.fits(n) {
		return n, nil
	}
	if stages(r, root) {
		return n, q.staged(n, stagedGroups(r.Act.Import, root))
	}
	queues, groups := additions(r, root, "", q.limits.Queues-min(q.limits.Queues, q.held.queues))
	switch {
	case queues == 0:
		return 0, nil
	case q.held.queues+queues > q.limits.Queues:
		return 0, offset.Errorf(offset.ErrLimit, "the cluster keeps at most %d queues and has %d; remove groups that are no longer used, or raise the limit", q.limits.Queues, q.held.queues)
	case groups > 0 && q.held.groups+groups > q.limits.Groups:
		return 0, offset.Errorf(offset.ErrLimit, "the cluster keeps at most %d groups and has %d; remove groups that are no longer used, or raise the limit", q.limits.Groups, q.held.groups)
	case q.held.queues+flying+queues > q.limits.Queues, groups > 0 && q.held.groups+flying+groups > q.limits.Groups:
		return 0, errLimitNear
	}
	return queues, nil
}

// errLimitNear refuses further keys while what is in flight may take the room left.
var errLimitNear = offset.Errorf(offset.ErrBusy, "the cluster is close to a limit on its queues or groups, which what is under way may reach; try again")

// staged returns nil if a chunk of n keys, some of them of further groups, of the
// replace under way is within the limits.
func (q *quota) staged(n, groups uint64) error {
	switch {
	case q.swapped.queues+n > q.limits.Queues:
		return offset.Errorf(offset.ErrLimit, "the cluster keeps at most %d queues, and would have %d with what the import has staged; abort it, and import less or raise the limit", q.limits.Queues, q.swapped.queues)
	case groups > 0 && q.swapped.groups+groups > q.limits.Groups:
		return offset.Errorf(offset.ErrLimit, "the cluster keeps at most %d groups, and would have %d with what the import has staged; abort it, and import less or raise the limit", q.limits.Groups, q.swapped.groups)
	case q.swapped.queues+q.added+n > q.limits.Queues, groups > 0 && q.swapped.groups+q.added+groups > q.limits.Groups:
		return errLimitNear
	}
	return nil
}

// fits reports whether n more keys, each in a group of its own, stay below the
// margins.
func (q *quota) fits(n uint64) bool {
	return q.counted && max(q.held.queues, q.swapped.queues)+q.added+n <= below(q.limits.Queues) &&
		max(q.held.groups, q.swapped.groups)+q.added+n <= below(q.limits.Groups)
}

// below is the limit without its margin: within it keys that are there already must
// not take the room of those that are new. What is in flight rarely names more.
func below(limit uint64) uint64 { return limit - min(limit, max(1<<10, min(limit/8, 1<<16))) }

// chunk reports whether the request brings a chunk of an import.
func chunk(r *entry.Request) bool {
	return r.Act != nil && r.Act.Import != nil && r.Act.Import.Step == offset.ImportChunk
}

// stages reports whether the request is a chunk of the replace under way, which
// the table does not count before it is swapped in.
func stages(r *entry.Request, root *table.Root) bool {
	imp := root.Import()
	return chunk(r) && imp != nil && imp.ID == r.Act.ID && imp.Mode == offset.ImportReplace
}

// sentAgain reports whether the request is a chunk that the import under way has already,
// as one is whose answer was lost: it changes nothing, now or later.
func sentAgain(r *entry.Request, root *table.Root) bool {
	imp := root.Import()
	return chunk(r) && imp != nil && imp.ID == r.Act.ID && r.Act.Import.Chunk < imp.Next
}

// afterSwap counts what there would be with the replace under way swapped in: what it
// takes the place of is gone then.
func afterSwap(root *table.Root) held {
	now := held{root.Queues(), root.Groups()}
	imp := root.Import()
	if imp == nil || imp.Mode != offset.ImportReplace {
		return now
	}
	after := held{root.Staged(), root.StagedGroups()}
	if imp.Group == "" {
		return after
	}
	if had := root.QueuesOf(imp.Group); had > 0 {
		now.queues -= had
		now.groups--
	}
	return held{now.queues + after.queues, now.groups + after.groups}
}

// stagedGroups counts the groups of a chunk of which nothing is staged yet.
func stagedGroups(i *offset.Import, root *table.Root) (n uint64) {
	only, seen := root.Import().Group, map[string]bool{}
	for j := range i.Targets {
		g := i.Targets[j].Key.Group
		if seen[g] || only != "" && g != only { // the replace of a group leaves others out
			continue
		}
		if seen[g] = true; root.StagedOnCount(g) == 0 {
			n++
		}
	}
	return n
}

// prefix returns how many keys a request counts for under a prefix. Until the prefix
// is counted again, the last count stands: whoever adds to a full one is refused at
// once, even after a removal; what was admitted since makes others try again.
func (q *quota) prefix(p *prefixCount, r *entry.Request) (adds uint64, err error) {
	n := namedUnder(r, p.Prefix, q.machine)
	if n == 0 || p.fits(n) {
		return n, nil
	}
	flying := p.newest.flying(q.late())
	root := q.machine.Root()
	p.recount(root, flying)
	switch {
	case p.fits(n):
		return n, nil
	case stages(r, root):
		return p.stage(n, root)
	}
	fresh, _ := additions(r, root, p.Prefix, p.Queues-min(p.Queues, p.queues))
	switch {
	case fresh == 0:
		return 0, nil
	case p.queues+fresh > p.Queues:
		return 0, offset.Errorf(offset.ErrLimit, "groups beginning with %q keep at most %d queues and have %d; remove groups that are no longer used, or raise the limit", p.Prefix, p.Queues, p.queues)
	case p.queues+p.swappedIn(root)+p.added+fresh > p.Queues:
		return 0, errLimitNear
	}
	return fresh, nil
}

// swappedIn is what the replace had staged that was under way at the count and has
// ended: some of it may have come to the table.
func (p *prefixCount) swappedIn(root *table.Root) uint64 {
	if imp := root.Import(); imp != nil && imp.ID == p.of {
		return 0
	}
	return p.staged
}

// stage returns how many keys a chunk of n of the replace under way counts for, if it
// is within the limit.
func (p *prefixCount) stage(n uint64, root *table.Root) (adds uint64, err error) {
	imp := root.Import()
	kept, since := uint64(0), uint64(0) // what it leaves in place, as counted, and what was added to that
	switch {
	case imp.Group == "":
	case !strings.HasPrefix(imp.Group, p.Prefix): // none of the keys is staged
		return 0, nil
	default:
		kept, since = p.queues-min(p.queues, root.QueuesOf(imp.Group)), p.added-p.staging
	}
	if imp.ID == p.of {
		kept += p.staged
	}
	switch {
	case kept+n > p.Queues:
		return 0, offset.Errorf(offset.ErrLimit, "groups beginning with %q keep at most %d queues, and would have %d with what the import has staged; abort it, and import less or raise the limit", p.Prefix, p.Queues, kept)
	case kept+since+p.staging+n > p.Queues:
		return 0, errLimitNear
	}
	return n, nil
}

// fits reports whether n more keys stay below the margin, whatever is swapped in.
func (p *prefixCount) fits(n uint64) bool {
	return p.counted && p.queues+p.staged+p.added+n <= below(p.Queues)
}

// recount counts the queues of a root, unless it has just done so.
func (p *prefixCount) recount(root *table.Root, flying uint64) {
	began := time.Now()
	switch {
	case p.counted && p.index == root.Index():
		p.added, p.staging = flying, flying
		return
	case p.counted && began.Before(p.rest):
		return
	}
	p.counted, p.index, p.added, p.staging = true, root.Index(), flying, flying
	p.queues, p.staged, p.of = root.QueuesUnder(p.Prefix), root.StagedUnder(p.Prefix), offset.ActID{}
	if imp := root.Import(); imp != nil {
		p.of = imp.ID
	}
	p.rest = began.Add(countRest * time.Since(began))
}

// keysOf yields the keys that a request may create.
func keysOf(r *entry.Request, machine *machine, yield func(group string, n uint64)) {
	switch {
	case r.Commits != nil:
		for i := range r.Commits.Topics {
			yield(r.Commits.Topics[i].Group, uint64(len(r.Commits.Topics[i].Queues)))
		}
	case r.Set != nil:
		yield(r.Set.Key.Group, 1)
	case r.Act != nil:
		for _, t := range targetsOf(r.Act) {
			yield(t.Key.Group, 1)
		}
		if c := r.Act.Clone; c != nil && r.Step == 0 { // a further entry continues what was admitted
			yield(c.To, machine.Root().QueuesOf(c.From))
		}
	}
}

func targetsOf(a *offset.Act) []offset.Target {
	switch {
	case a.Reset != nil:
		return a.Reset.Targets
	case a.Import != nil:
		return a.Import.Targets
	}
	return nil
}

func named(r *entry.Request, machine *machine) (n uint64) {
	keysOf(r, machine, func(_ string, k uint64) { n += k })
	return n
}

func namedUnder(r *entry.Request, prefix string, machine *machine) (n uint64) {
	keysOf(r, machine, func(group string, k uint64) {
		if strings.HasPrefix(group, prefix) {
			n += k
		}
	})
	return n
}

// additions counts the keys under a prefix, and the groups, that a request
// would add to root. A clone, which may look at many, is looked at until it is
// known to bring more than there is room for, or has been looked at for long enough:
// the rest counts as new.
func additions(r *entry.Request, root *table.Root, prefix string, room uint64) (keys, groups uint64) {
	seen := map[string]bool{}
	look := func(k offset.Key) {
		if !strings.HasPrefix(k.Group, prefix) || root.Get(k).Exists {
			return
		}
		keys++
		if !seen[k.Group] {
			seen[k.Group] = true
			if root.QueuesOf(k.Group) == 0 {
				groups++
			}
		}
	}
	switch {
	case r.Commits != nil:
		for _, t := range r.Commits.Topics {
			for _, c := range t.Queues {
				look(offset.Key{Group: t.Group, MessageQueue: offset.MessageQueue{Topic: t.Topic, Broker: t.Broker, QueueID: c.QueueID}})
			}
		}
	case r.Set != nil:
		look(r.Set.Key)
	case r.Act != nil:
		for _, t := range targetsOf(r.Act) {
			look(t.Key)
		}
		if c := r.Act.Clone; c != nil && r.Step == 0 && strings.HasPrefix(c.To, prefix) && !root.Remembers(r.Act.ID) {
			keys += root.CloneAdds(c, room)
			if root.QueuesOf(c.To) == 0 {
				groups++
			}
		}
	}
	return keys, groups
}
