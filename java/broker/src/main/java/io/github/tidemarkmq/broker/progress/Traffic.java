package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import java.util.ArrayDeque;

/**
 * What is under way for one key: values not yet acknowledged, and the waiters for them. A key without any has none of
 * this in memory. Guarded by the key. When what the key holds is replaced, so is this, and an answer to a send of the
 * old one finds that nobody asks for it any more.
 */
final class Traffic {
    private static final long NONE = KeyProgress.NONE;

    /** The newest value, the log position that it rests on, and its number. */
    long newest = NONE;
    long newestAt;
    int newestSeq;
    /** An older value whose position is nearer to being durable: a key that commits all the time is sent all the time. */
    long waiting = NONE;
    long waitingAt;
    int waitingSeq;
    /** What was sent and not yet decided. */
    long sent = NONE;
    int sentSeq;
    /** Whether what was sent is a Set. */
    boolean set;
    /** POP began it, of a key that was not read yet and had no value. */
    boolean ofPop;
    /** The send that a request holds; null for none. */
    Send inFlight;
    /** A send's outcome is not known: it goes out again before anything lower does. */
    boolean unknown;
    /** The newest value was reached by lowering, and is below what the cluster has. */
    boolean lower;
    /** The newest value is sent even where it raises nothing: it says that a reset was followed. */
    boolean confirm;
    private int seq;
    private ArrayDeque<Waiter> waiters;

    /** Takes a value as the newest. */
    void put(long offset, long at, boolean lowers, long durable) {
        seq++;
        if (offset == newest) {
            newestSeq = seq; // it rests on nothing more than it did before
            return;
        }
        if (lowers || lower || at <= durable) {
            waiting = NONE;
        } else if (newest != NONE && (waiting == NONE || newestAt <= durable)) {
            waiting = newest;
            waitingAt = newestAt;
            waitingSeq = newestSeq;
        }
        newest = offset;
        newestAt = at;
        newestSeq = seq;
        lower |= lowers;
    }

    /** Adds a waiter for the newest value. Those whose time is up leave, so a dead cluster fills no memory. */
    void add(Waiter waiter) {
        if (waiters == null) {
            waiters = new ArrayDeque<>(2);
        }
        while (!waiters.isEmpty() && waiters.peek().isDone()) {
            waiters.poll();
        }
        waiter.seq = newestSeq;
        waiters.add(waiter);
    }

    /** Whether somebody waits for the newest value, or waited for one a moment ago. */
    boolean isAwaited() {
        return waiters != null && !waiters.isEmpty() && !waiters.peekLast().isDone();
    }

    /** Whether there is anything to send. */
    boolean pending() {
        return unknown || newest != NONE;
    }

    /** The newest value that rests on nothing unsafe, or what was sent; none if there is none. */
    long leftover(long durable) {
        if (newest != NONE && newestAt <= durable) {
            return newest;
        }
        return waiting != NONE && waitingAt <= durable ? waiting : sent;
    }

    /** The position from which on there is something to send. */
    long sendableAt() {
        if (unknown) {
            return 0;
        }
        return waiting != NONE ? Math.min(waitingAt, newestAt) : newestAt;
    }

    /** What was sent is acknowledged: it, and what was before it, is no longer marked. */
    void settleSent(Outbox out) {
        settleUpTo(sentSeq, out);
        sent = NONE;
        unknown = false;
        set = false;
    }

    /** What is not above the cluster's offset need not be sent. */
    void settleBelow(long acked, Outbox out) {
        if (lower || confirm || unknown || inFlight != null) {
            return;
        }
        if (newest != NONE && newest <= acked) {
            settleUpTo(newestSeq, out);
        } else if (waiting != NONE && waiting <= acked) {
            settleUpTo(waitingSeq, out);
        }
    }

    private void settleUpTo(int last, Outbox out) {
        if (waiting != NONE && waitingSeq <= last) {
            waiting = NONE;
        }
        if (newest != NONE && newestSeq <= last) {
            newest = NONE;
            lower = false;
            confirm = false;
        }
        while (waiters != null && !waiters.isEmpty() && waiters.peek().seq <= last) {
            out.decide(waiters.poll(), Decision.DURABLE);
        }
    }

    /** All is given up: whoever waits is told. */
    void drop(Outbox out, Decision decision) {
        while (waiters != null && !waiters.isEmpty()) {
            out.decide(waiters.poll(), decision);
        }
    }
}
