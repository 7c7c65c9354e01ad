package io.github.tidemarkmq.broker.reset;

import io.github.tidemarkmq.broker.progress.Commit;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Origin;
import io.github.tidemarkmq.broker.progress.Peers;

/**
 * One reset of one key on its way: assigned, taken by a pull or a pop, followed. It distinguishes values that its
 * consumer had before from values that it has since. Guarded by its own monitor; it calls nobody but {@link Peers}.
 */
final class Move {
    /** How long after taking a reset a client may still send what it had before: its persist timer is 5 s, a client
     * 4.9 sleeps 10 s before it applies one. */
    static final long KEEP_MILLIS = 15_000;
    /** How long a POP checkpoint that was picked before the restart may take until it is committed. */
    private static final long POP_KEEP_MILLIS = 1_000;
    /** A pop takes 32 messages at most (PopMessageProcessor). */
    private static final long POP_BATCH = 32;

    /** What is to be done about a commit. */
    enum Verdict {
        /** Hand it on: it is new, or the table refuses it by itself. */
        ADMIT,
        /** Drop it: the client had it before the reset. */
        DROP,
        /** The consumer has followed: tell, then hand it on. */
        FOLLOW
    }

    private enum State { ASSIGNED, TAKEN, FOLLOWED }

    final Key key;
    final long to;
    private final Peers peers;

    private State state = State.ASSIGNED;
    private long sinceMillis;
    private String client;           // who took it; null before, and for a pop
    private boolean popped;
    private long low;                // least value known that a consumer had before; Long.MAX_VALUE for none
    private long high;               // greatest such value
    private long delivered;          // up to where messages were handed out since it was taken

    /** @param before the table's value before the reset; negative for none */
    Move(Key key, Peers peers, long before, long to, long millis) {
        this.key = key;
        this.peers = peers;
        this.to = to;
        this.low = before < 0 ? Long.MAX_VALUE : before;
        this.high = before;
        this.delivered = to;
        this.sinceMillis = millis;
    }

    /** Takes over what an earlier reset of the key knew of values from before. */
    synchronized void after(Move earlier) {
        synchronized (earlier) {
            low = Math.min(low, earlier.low);
            high = Math.max(high, Math.max(earlier.high, earlier.delivered));
        }
    }

    synchronized boolean waits() {
        return state == State.ASSIGNED;
    }

    /** A pull or pop takes it; false if another one has. @param by null if that is not known yet */
    synchronized boolean take(String by, long millis) {
        if (state != State.ASSIGNED) {
            return false;
        }
        state = State.TAKEN;
        client = by;
        sinceMillis = millis;
        return true;
    }

    /** The pull that took it is about to be answered, which says whose it is. */
    synchronized boolean takenBy(String by, long next) {
        if (state != State.TAKEN || next != to) {
            return false;
        }
        client = by;
        return true;
    }

    /**
     * A pull was answered.
     *
     * @param from where it asked for messages; negative if that is not known
     * @param next where its client continues
     * @return whether it shows that the client has followed: it is the one that took the reset, and pulls at just
     *     that offset (a lite pull consumer says nothing else)
     */
    synchronized boolean pulled(String by, long from, long next, long millis) {
        if (state == State.ASSIGNED) {
            high = Math.max(high, next);
            return false;
        }
        boolean onTheWay = from < 0 ? next <= delivered + POP_BATCH : from >= to && from <= delivered;
        boolean follows = state == State.TAKEN && isTaker(by) && (from < 0 ? next : from) == to;
        if (follows) {
            follow(millis);
        }
        if (state == State.FOLLOWED && onTheWay) {
            delivered = Math.max(delivered, next);
        }
        return follows;
    }

    /** What was on the back of the pull that took it. */
    synchronized void had(long value) {
        low = Math.min(low, value);
        high = Math.max(high, value);
    }

    /** POP starts again at the offset, under the lock of the queue. */
    synchronized void popped(long millis) {
        popped = true;
        follow(millis);
    }

    /** @param carried the reset was sent to the consumers, not taken by a pull: any of them may follow */
    synchronized Verdict judge(Commit c, boolean carried, long millis) {
        long value = c.offset();
        if (state == State.FOLLOWED) {
            boolean old = c.origin() == Origin.POP ? oldPop(value, millis) : old(value, millis);
            return old ? Verdict.DROP : Verdict.ADMIT;
        }
        if (value == to && (state == State.TAKEN && isTaker(c.client()) || state == State.ASSIGNED && carried)) {
            follow(millis);
            return Verdict.FOLLOW;
        }
        had(value);
        return Verdict.ADMIT; // the table takes nothing of the key yet, and tells whoever waits why
    }

    private boolean isTaker(String by) {
        return client != null && peers.same(client, by, key.group());
    }

    private boolean old(long value, long millis) {
        if (popped || millis - sinceMillis >= KEEP_MILLIS) {
            return false;
        }
        boolean wasBefore = to < low && value >= low && value <= high;
        return value < to || value > delivered || wasBefore;
    }

    /** Under the queue's lock POP forgets what it had; only a checkpoint that was in a thread's hands may follow. */
    private boolean oldPop(long value, long millis) {
        if (millis - sinceMillis < POP_KEEP_MILLIS && to < low && value >= low && value > delivered + POP_BATCH) {
            return true;
        }
        delivered = Math.max(delivered, value);
        return false;
    }

    private void follow(long millis) {
        state = State.FOLLOWED;
        sinceMillis = millis;
    }

    /** Taken, and not followed in time. */
    synchronized boolean ignored(long millis) {
        return state == State.TAKEN && millis - sinceMillis >= KEEP_MILLIS;
    }

    /** Followed long ago: nothing of before can come any more. */
    synchronized boolean over(long millis) {
        return state == State.FOLLOWED && millis - sinceMillis >= KEEP_MILLIS;
    }
}
