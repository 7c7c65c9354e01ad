package table

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// Root is the whole state at one index. It never changes; any number of
// goroutines may read it for as long as they like. Holding one keeps the memory
// of what has changed since.
type Root struct {
	cluster offset.ClusterID
	index   uint64
	time    int64
	lastAct uint64
	level   uint8
	later   Later
	live    view
	// staged is what the import under way has staged; imp is nil if there is none.
	staged   view
	imp      *offset.ImportStatus
	floors   *floors
	floorAll uint64
	claims   *claims
	acts     []*ActRecord
	evicted  uint64
	members  []offset.Member
	// The sums of what is in no order.
	floorSum, claimSum, actSum sum
}

// view is what readers see of a space.
type view struct {
	parts  tree[*part]
	groups tree[*ident]
	topics tree[*ident]
	base   Stamp
	queues uint64
	// count is how many groups there are, places on how many brokers they are in
	// all, pairs how many topics that makes.
	count, places, pairs int
	sum                  sum
}

func (s *space) view() view {
	return view{s.parts, s.groups, s.topics, s.base, s.queues, len(s.live), s.places, s.pairs, s.sum}
}

// part returns a group on a broker, nil if it has no key there.
func (v *view) part(group, broker string) *part {
	p, _ := v.parts.get(byBroker, place{&ident{group: group, broker: broker}, 0})
	return p
}

// Index is the index of the last entry begun before it was published; 0 before
// the first.
func (r *Root) Index() uint64 { return r.index }

// Time is the time of that entry, Unix milliseconds, never less than that of one before.
func (r *Root) Time() int64 { return r.time }

// LastAct is the index of the last act of any kind that took effect; 0 if none has.
func (r *Root) LastAct() uint64 { return r.lastAct }

// Level is the format level in use.
func (r *Root) Level() uint8 { return r.level }

// Cluster is the cluster the state belongs to.
func (r *Root) Cluster() offset.ClusterID { return r.cluster }

// Groups counts the groups that have an offset.
func (r *Root) Groups() uint64 { return uint64(r.live.count) }

// Queues counts the offsets.
func (r *Root) Queues() uint64 { return r.live.queues }

// QueuesOf counts the offsets of a group. It costs what the brokers do that the
// group is on.
func (r *Root) QueuesOf(group string) (n uint64) {
	for _, p := range r.live.partsOf(group) {
		n += uint64(p.queues)
	}
	return n
}

// QueuesUnder counts the offsets of the groups whose names begin with a prefix. It
// costs what the brokers do that these are on.
func (r *Root) QueuesUnder(prefix string) uint64 { return r.live.queuesUnder(prefix) }

// StagedUnder is QueuesUnder for what the import under way has staged.
func (r *Root) StagedUnder(prefix string) uint64 { return r.staged.queuesUnder(prefix) }

func (v *view) queuesUnder(prefix string) (n uint64) {
	for c := v.groups.seek(byGroup, place{&ident{group: prefix}, 0}, sieve{}); ; c.next() {
		id, ok := c.item()
		if !ok || !strings.HasPrefix(id.group, prefix) {
			return n
		}
		n += uint64(v.part(id.group, id.broker).queues)
	}
}

// Staged counts the offsets that the import under way has staged.
func (r *Root) Staged() uint64 { return r.staged.queues }

// StagedGroups counts the groups of these.
func (r *Root) StagedGroups() uint64 { return uint64(r.staged.count) }

// Brokers names the brokers that any group has offsets on, staged ones too, in no
// order and perhaps twice, of either kind no more than most.
func (r *Root) Brokers(most int) (list []string) {
	for _, v := range []*view{&r.live, &r.staged} {
		n := 0
		for b := range v.brokers() {
			if n++; n > most {
				break
			}
			list = append(list, b)
		}
	}
	return list
}

// BrokersOf names the brokers that a group has offsets on, of one topic or, if that
// is empty, of any, in order.
func (r *Root) BrokersOf(group, topic string) []string { return r.live.brokersOf(group, topic) }

// On reports whether a group has offsets on a broker. It costs a search.
func (r *Root) On(group, broker string) bool { return r.live.part(group, broker) != nil }

// OnCount counts the brokers that a group has offsets on, page by page.
func (r *Root) OnCount(group string) int { return r.live.onCount(group) }

// StagedOn is On for what the import under way has staged.
func (r *Root) StagedOn(group, broker string) bool { return r.staged.part(group, broker) != nil }

// StagedOnCount is OnCount for what the import under way has staged.
func (r *Root) StagedOnCount(group string) int { return r.staged.onCount(group) }

// Remembers reports whether the answer to an act, or its progress, is remembered: sent
// again from its first entry, it changes nothing.
func (r *Root) Remembers(id offset.ActID) bool {
	return slices.ContainsFunc(r.acts, func(a *ActRecord) bool { return a.ID == id })
}

// Members are those that have announced themselves, in the order of their ids.
// The slice must not be changed.
func (r *Root) Members() []offset.Member { return r.members }

// Import is the import under way, nil if there is none. It must not be changed.
func (r *Root) Import() *offset.ImportStatus { return r.imp }

// Claims lists the newest claim of each scope, groups first, then brokers, each
// in the order of their names.
func (r *Root) Claims() []Claim { return r.claims.list() }

// ClaimedGroups counts the groups that have a claim.
func (r *Root) ClaimedGroups() int { return len(r.claims.groups) }

// Claimed gives the newest claim of one scope.
func (r *Root) Claimed(byBroker bool, name string) (Claim, bool) {
	x, ok := r.claims.by(byBroker)[name]
	return x, ok
}

// Digest covers all that a snapshot of the root holds, index and time included.
// It costs about a microsecond.
func (r *Root) Digest() offset.Digest {
	e := make(encoding, 0, 1024).u8(tagState)
	e = append(e, r.cluster[:]...)
	e = e.u64(r.index).u64(uint64(r.time)).u64(r.lastAct).u8(r.level)
	e = e.u64(r.live.queues).sum(r.live.sum).stamp(r.live.base)
	e = e.u64(r.floorAll).sum(r.floorSum).sum(r.claimSum).sum(r.actSum).u64(r.evicted)
	e = e.flag(r.imp != nil)
	if i := r.imp; i != nil {
		e = append(e, i.ID[:]...)
		e = append(e.u8(uint8(i.Mode)).text(i.Group), i.Hash[:]...)
		e = e.u32(i.Chunks).u64(i.Offsets).u32(i.Next).u64(i.Base)
		e = e.u64(r.staged.queues).sum(r.staged.sum)
	}
	e = e.u32(uint32(len(r.members)))
	for i := range r.members {
		m := &r.members[i]
		e = e.text(m.ID).text(m.API).u8(m.MaxLevel)
	}
	e = r.later.digest(e)
	h := e.hash()
	var d offset.Digest
	binary.BigEndian.PutUint64(d[:8], h.Hi)
	binary.BigEndian.PutUint64(d[8:], h.Lo)
	return d
}

// Get returns the state of one key.
func (r *Root) Get(k offset.Key) offset.KeyState {
	claim := r.claims.of(k.Group, k.Broker)
	if p := r.live.part(k.Group, k.Broker); p != nil {
		n, _ := p.nodes.around(byRun, place{&ident{topic: k.Topic}, k.QueueID})
		if n != nil && n.id.topic == k.Topic {
			if i, ok := n.search(k.QueueID); ok {
				return stateOf(n.queues[i].position(newer(r.live.base, p.base)), claim)
			}
		}
	}
	return absent(r.floors.of(k.Group, k.Topic), claim)
}
