package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import java.util.function.Consumer;

/**
 * One key: what queries answer, and what is to be sent. All but the value is guarded by the object's monitor; nothing
 * blocks, calls the cluster or anybody else's code under it. What changes by consumers is here; what changes by the
 * cluster's word is in {@link Takeover}.
 */
final class KeyProgress {
    /** "No offset", in this package's numbers alone. */
    static final long NONE = -1;

    /** What may be done with a key. */
    enum Phase {
        /** New here: it is read before anything is sent, since nobody knows its epoch. */
        UNREAD,
        /** Values are taken and sent. */
        OPEN,
        /** An answer said that an act was missed: it is being read again. */
        FENCED,
        /** A reset is assigned to its consumers, and they have not followed yet. */
        RESET,
        /** A newer claim has taken it away: nothing is taken, nothing sent. */
        LOST,
        /** The cluster no longer has it. */
        GONE,
        /** It has left the table: who holds it looks again. */
        DEAD
    }

    final Queues of;
    final int queue;
    volatile long value = NONE;
    /** The position's offset as the cluster last reported it, and the epoch under which it did. */
    long acked = NONE;
    long epoch;
    Phase phase = Phase.UNREAD;
    Traffic traffic;
    Gate gate;
    private boolean queued;
    private boolean reading;
    /** The last walk over the cluster's keys that met it. Of the walking thread alone. */
    int walk;

    KeyProgress(Queues of, int queue) {
        this.of = of;
        this.queue = queue;
    }

    Key key() {
        return new Key(of.topic, of.group, queue);
    }

    /**
     * Takes a value, or not. Not of a dead key: the caller holds the monitor and has looked.
     *
     * @param waiter who waits for it; null for nobody
     * @return null if it was taken and is marked; DURABLE if it was and need not be; else why it was not taken
     */
    synchronized Decision commit(Commit c, Waiter waiter, Board b) {
        Decision no = refusal(c, b);
        if (no != null) {
            return no;
        }
        boolean lowers = value != NONE && c.offset() < value;
        // Pulls come on other threads than 15s do, and so late; a consumer that goes back says so by a 15, too.
        if (lowers && (c.origin() == Origin.PULL || !b.view.master())) {
            return Decision.LOWER_AT_SLAVE;
        }
        if (lowers) {
            b.lowered(this, value, c);
        }
        boolean first = value == NONE;
        value = c.offset();
        return mark(c, first, lowers, waiter, b);
    }

    private Decision refusal(Commit c, Board b) {
        switch (phase) {
            case RESET:
                return Decision.RESET;
            case LOST:
            case FENCED:
                return closed(b);
            case GONE:
                if (closedTo(c, b)) {
                    return closed(b);
                }
                phase = Phase.UNREAD; // it is created again
                return null;
            default:
                return closedTo(c, b) ? shut(c.connection(), b) : null;
        }
    }

    private boolean closedTo(Commit c, Board b) {
        if (gate != null && gate.isOver()) {
            gate = null;
        }
        if (gate == null || !gate.isFor(c) || b.opened.isOpen(gate, c.connection(), of.group)) {
            return false;
        }
        // At a master POP is told by a reset. A slave has none, and POP never reads as consumers do.
        if (c.origin() == Origin.POP && phase == Phase.OPEN && !b.view.master() && gate.isPopsRestart(c)) {
            b.opened.open(gate, Commit.POP, of.group);
            return false;
        }
        return true;
    }

    private static Decision closed(Board b) {
        b.tally.closed.increment();
        return Decision.CLOSED;
    }

    /** A value that may rest on what was before the move: a master tells its connection by a reset. */
    private Decision shut(String client, Board b) {
        if (traffic != null && traffic.lower || setUnderWay()) {
            return closed(b); // what was lowered goes to the cluster first; a later value finds it there
        }
        if (phase != Phase.OPEN || !b.view.master() || value == NONE
            || !gate.tell(client, b.peers.host(client, of.group))) {
            return closed(b);
        }
        gate.restsAt = traffic == null ? 0 : traffic.newestAt;
        drop(b, Decision.CLOSED);
        assign(value, b);
        return Decision.RESET;
    }

    private Decision mark(Commit c, boolean first, boolean lowers, Waiter waiter, Board b) {
        if (traffic == null && phase == Phase.OPEN && c.offset() == acked) {
            return Decision.DURABLE;
        }
        traffic(b).put(c.offset(), c.position(), lowers, b.log.durable());
        if (waiter != null) {
            traffic.add(waiter);
        }
        if (phase == Phase.UNREAD) {
            traffic.ofPop |= first && c.origin() == Origin.POP;
            read(b);
        }
        schedule(b);
        return null;
    }

    /** Marks the value that the file had. It is sent once the key has been read, which nobody has asked for yet. */
    void markFromFile(Board b) {
        traffic(b).put(value, 0, false, 0);
    }

    private Traffic traffic(Board b) {
        if (traffic == null) {
            traffic = new Traffic();
            b.tally.marked.increment();
        }
        return traffic;
    }

    /** The key is read from the cluster as soon as may be. */
    void read(Board b) {
        if (!reading) {
            reading = true;
            b.reads.put(this, null);
        }
    }

    /** As {@link #read}, for a key that came from the file and that the cluster does not have. */
    synchronized void readIfNew(Board b) {
        if (phase == Phase.UNREAD) {
            read(b);
        }
    }

    /** Whether nobody has read it yet. */
    synchronized boolean isUnread() {
        return phase == Phase.UNREAD;
    }

    /**
     * The offset as it goes into the file; none where it is POP's that is to give way.
     *
     * @param popYields what POP says of a key that nobody has read gives way to the store's offset
     */
    synchronized long row(boolean popYields) {
        return yields(popYields) ? NONE : value;
    }

    private boolean yields(boolean popYields) {
        return popYields && phase == Phase.UNREAD && isOfPop();
    }

    /** Whether what is marked is POP's, which found nothing here before. Under the monitor. */
    boolean isOfPop() {
        return traffic != null && traffic.ofPop;
    }

    /** It was read, or is given back by a reader that could not. */
    synchronized void readDone() {
        reading = false;
    }

    /** It was taken to be sent, and whoever took it failed, perhaps before it was planned. */
    synchronized void giveBack(Board b) {
        queued = false;
        schedule(b);
    }

    /** Puts the key among those to send, if it has anything to send, and has the log flushed if somebody waits. */
    void schedule(Board b) {
        if (traffic == null) {
            return;
        }
        boolean soon = traffic.isAwaited();
        if (!queued && phase == Phase.OPEN && traffic.inFlight == null && traffic.pending()) {
            queued = true;
            b.marked.put(this, traffic.sendableAt(), soon);
        }
        if (soon && traffic.newestAt > b.log.durable()) {
            b.log.want(traffic.newestAt, true); // also while the key is read, or in flight
        }
    }

    /** What to send now; null for nothing. The key is in flight then, until one of the five below is called. */
    synchronized Send plan(Board b) {
        queued = false;
        if (phase != Phase.OPEN || traffic == null || traffic.inFlight != null) {
            return null;
        }
        Traffic t = traffic;
        t.settleBelow(acked, b.outbox);
        long durable = b.log.durable();
        if (t.unknown && t.set) {
            return send(t.sent, t.sentSeq, true);
        }
        if (t.newest != NONE && t.newestAt <= durable && !(t.unknown && t.newest < t.sent)) {
            return decide(t.newest, t.newestSeq, b);
        }
        if (t.unknown) {
            return send(t.sent, t.sentSeq, false);
        }
        if (t.waiting != NONE && t.waitingAt <= durable) {
            return decide(t.waiting, t.waitingSeq, b);
        }
        rest(b);
        return null;
    }

    private Send decide(long offset, int seq, Board b) {
        boolean set = traffic.lower && offset < acked && !traffic.unknown;
        return send(offset, seq, set);
    }

    private Send send(long offset, int seq, boolean set) {
        Send s = new Send(this, traffic, offset, epoch, set, acked);
        traffic.sent = offset;
        traffic.sentSeq = seq;
        traffic.set = set;
        traffic.inFlight = s;
        return s;
    }

    /** Whether what becomes of a send is still of interest: it was not decided, nor what it is part of given up. */
    private boolean awaits(Send s) {
        return traffic == s.traffic && traffic.inFlight == s;
    }

    /** Nothing more to do now: the rest waits for the log, or there is none. */
    private void rest(Board b) {
        if (!traffic.pending()) {
            forgetTraffic(b);
        } else {
            schedule(b);
        }
    }

    private void forgetTraffic(Board b) {
        if (traffic != null) {
            traffic = null;
            b.tally.marked.decrement();
        }
    }

    /** The cluster has it: the position's offset is now this one. */
    synchronized void accepted(Send s, long offset, long epochAfter, Board b) {
        if (!awaits(s)) {
            return;
        }
        Traffic t = traffic;
        t.inFlight = null;
        acked = s.set ? offset : Math.max(acked, offset);
        epoch = s.set ? epochAfter : epoch;
        t.settleSent(b.outbox);
        t.lower = t.lower && t.newest != NONE && t.newest < acked;
        settled(b);
    }

    /** After acked has changed: what it covers is no longer marked, and the value is never below what others raised. */
    void settled(Board b) {
        if (traffic != null) {
            traffic.settleBelow(acked, b.outbox);
        }
        if (traffic == null || traffic.newest == NONE) {
            value = Math.max(value, acked);
        }
        if (traffic != null && traffic.inFlight == null) {
            rest(b);
        }
    }

    /** An act was missed: it is read again, and what is marked is given up with it. */
    synchronized void fenced(Send s, Board b) {
        if (!awaits(s)) {
            return;
        }
        drop(b, Decision.CLOSED);
        phase = Phase.FENCED;
        read(b);
    }

    /** Nobody knows whether the cluster has it. */
    synchronized void unknown(Send s, Board b) {
        if (awaits(s)) {
            traffic.inFlight = null;
            traffic.unknown = true;
            schedule(b);
        }
    }

    /** The cluster does not have it, and never will by this send. */
    synchronized void refused(Send s, Board b) {
        if (awaits(s)) {
            traffic.inFlight = null;
            if (!traffic.unknown) {
                traffic.sent = NONE;
                traffic.set = false;
            }
            schedule(b);
        }
    }

    /** The cluster will never take it: it is given up. */
    synchronized void impossible(Send s, Board b) {
        if (awaits(s)) {
            b.tally.dropped.increment();
            drop(b, Decision.INVALID);
        }
    }

    /** Gives up what is marked; whoever waits is told. An answer that comes later finds nothing. */
    void drop(Board b, Decision decision) {
        if (traffic != null) {
            traffic.drop(b.outbox, decision);
            forgetTraffic(b);
        }
    }

    /** Consumers are to go to the value, which was another before. */
    void assign(long before, Board b) {
        if (phase != Phase.RESET) {
            b.tally.resetsOpen.increment();
        }
        phase = Phase.RESET;
        b.tally.resetsAssigned.increment();
        b.outbox.assign(key(), before, value);
    }

    /** No reset is assigned any more. */
    void leaveReset(Board b) {
        if (phase == Phase.RESET) {
            phase = Phase.OPEN;
            b.tally.resetsOpen.decrement();
        }
    }

    synchronized boolean followed(long offset, String client, Board b) {
        if (phase != Phase.RESET || value != offset) {
            return false;
        }
        leaveReset(b);
        if (gate == null) {
            gate = Gate.moved();
        }
        b.opened.open(gate, client, of.group);
        confirm(gate.restsAt, b);
        gate.restsAt = 0;
        return true;
    }

    /** Sends the value, though it raises nothing: the first commit under its epoch says that a reset was followed. */
    void confirm(long restsAt, Board b) {
        traffic(b).put(value, restsAt, false, b.log.durable());
        traffic.confirm = true;
        schedule(b);
    }

    /** What was before is known of the reset that is assigned. */
    synchronized boolean assignAgain(long offset, Board b) {
        if (phase != Phase.RESET || value != offset) {
            return false;
        }
        assign(NONE, b);
        return true;
    }

    synchronized void opened(String client, long answered, Board b) {
        if (gate != null && value == answered) {
            b.opened.open(gate, client, of.group);
        }
    }

    synchronized long assigned() {
        return phase == Phase.RESET ? value : NONE;
    }

    /** Whether the cluster is said to have it. */
    synchronized boolean isHeld() {
        return (phase == Phase.OPEN || phase == Phase.RESET) && acked != NONE;
    }

    /** Whether a Set of our own may be under way: nothing is taken over meanwhile, its answer will tell. */
    boolean setUnderWay() {
        return traffic != null && traffic.set && (traffic.inFlight != null || traffic.unknown);
    }

    /**
     * Puts into the mark the value that the cluster does not have, unless what it rests on is not safe. Of a key that
     * was not read yet no epoch is known: the next start merges it. One that is closed, and that nobody has opened,
     * goes in without a value, before an operator's that may be under way; so does one that the cluster never had, and
     * whose value is not to be sent.
     *
     * @param popYields as in {@link #row}: what is to give way is no leftover, since a mark does not say whose it is
     */
    synchronized void unsent(long durable, boolean popYields, Consumer<Mark.Unsent> mark) {
        boolean held = phase == Phase.OPEN || phase == Phase.RESET || phase == Phase.LOST;
        boolean closed = held && gate != null && gate.isUnopened();
        if (closed) {
            mark.accept(new Mark.Unsent(key(), NONE, epoch, acked));
        }
        boolean unread = phase == Phase.UNREAD;
        if (phase != Phase.OPEN && !unread || yields(popYields)) {
            return;
        }
        long v = traffic == null ? NONE : traffic.leftover(durable);
        if (v != NONE || !closed && acked == NONE && value != NONE) {
            mark.accept(new Mark.Unsent(key(), v, unread ? Mark.UNREAD : epoch, acked));
        }
    }

    /** A removed key that anybody may create again leaves the table. The key is empty then. */
    synchronized boolean bury() {
        if (phase != Phase.GONE || gate != null && !gate.isOver()) {
            return false;
        }
        phase = Phase.DEAD;
        return true;
    }

    @Override
    public String toString() {
        return key().toString();
    }
}
