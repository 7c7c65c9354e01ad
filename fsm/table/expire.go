package table

import (
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// expireGroup is what an expiry counts for a group on top of its queues.
const expireGroup = 8

// expire removes the groups that have not moved since they were listed.
func (w *work) expire(e *offset.Expire) bool {
	for int(w.rec.Item) < len(e.Groups) {
		if w.left <= 0 {
			return false
		}
		w.left -= expireGroup
		g := &e.Groups[w.rec.Item]
		switch ref := w.t.live.live[g.Group]; {
		case ref == nil:
		case !planted.Is(planted.ExpireMoved) && w.moved(ref, g.Seen):
			w.keep(offset.Key{Group: g.Group})
		case !w.expireGroup(ref):
			return false
		}
		w.rec.Item++
		w.rec.Begun, w.rec.Cursor = false, offset.Key{}
	}
	return true
}

// moved reports whether a position of the group has a newer index than seen.
func (w *work) moved(g *ref, seen uint64) bool {
	for p := range g.all {
		if p.summary().newest > seen {
			return true
		}
	}
	return w.t.live.base.Index > seen
}

// expireGroup removes what is left of a group; its floor moves with each entry.
func (w *work) expireGroup(g *ref) bool {
	name, done, changed := g.first.id.group, true, w.rec.Result.Changed
	for _, b := range w.brokers(g, false, "") {
		if done = w.removeRuns(name, b, ""); !done {
			break
		}
	}
	if w.rec.Result.Changed > changed {
		w.t.raiseFloor(scope{false, name})
	}
	return done
}
