package tidemarktest

// held is what a MemoryStore holds of one queue.
type held struct {
	// value is the application's progress, if has.
	value int64
	has   bool

	// read: epoch was taken over. known is what the position had then, or
	// after the store's own last change, if exists.
	read   bool
	epoch  uint64
	known  int64
	exists bool

	// said is the value that is persisted, if isSaid. unsure: a commit was sent
	// whose answer was lost, so that known may be less than what is there.
	said   int64
	isSaid bool
	unsure bool
	// lowered: the application moved the value down, and that was not said yet.
	lowered bool

	// still: the application froze the value. fenced is why nothing is sent any
	// more; ignored: a value came since.
	still   bool
	fenced  error
	ignored bool
}

// firstRead is a queue as its first read found it.
func firstRead(p position) *held {
	h := &held{read: true, epoch: p.epoch, known: p.offset, exists: p.exists}
	if p.exists {
		h.value, h.has, h.said, h.isSaid = p.offset, true, p.offset, true
	}
	return h
}

func (h *held) update(next int64, increaseOnly bool) {
	switch {
	case h.fenced != nil:
		h.ignored = true
	case next < 0 || h.still:
	case h.has && increaseOnly && next <= h.value:
	default:
		h.lowered = h.lowered || h.has && next < h.value
		h.value, h.has = next, true
	}
}

// unsaid reports whether there is a value that is not known to be persisted.
func (h *held) unsaid() bool {
	return h.ignored || h.has && (h.unsure || !h.isSaid || h.value != h.said)
}

// down reports whether v is to be said by a Set, and not by a commit.
func (h *held) down(v int64) bool { return h.exists && v < h.known }
