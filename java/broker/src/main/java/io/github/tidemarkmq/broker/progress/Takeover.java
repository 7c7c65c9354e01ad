package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.broker.progress.KeyProgress.Phase;
import io.github.tidemarkmq.broker.planted.Mistake;
import io.github.tidemarkmq.client.KeyState;

/**
 * What a key becomes by the cluster's word (docs/decisions/0013-slaves-of-a-broker.md). A key was <em>moved</em> if its
 * own epoch is newer than what is held for it, unless a commit under the claim created it, or if it is pending: then
 * the store's offset replaces the value, and nothing that consumers said before is sent. If not, the higher offset
 * stays.
 */
final class Takeover {
    private Takeover() {
    }

    /**
     * A key was read: because it is new here, because it was fenced, or since a slave's consumer asks for it.
     *
     * @return false if it has left the table meanwhile: what was read is to be taken over by the one in its place
     */
    static boolean read(KeyProgress k, KeyState s, Board b) {
        synchronized (k) {
            k.readDone();
            switch (k.phase) {
                case UNREAD:
                    first(k, s, !b.view.master(), b);
                    return true;
                case FENCED:
                    again(k, s, b);
                    return true;
                case DEAD:
                    return false;
                default:
                    follow(k, s, b);
                    return true;
            }
        }
    }

    /**
     * A key that is new here. The higher offset stays: a consumer has read what it continues from, here or elsewhere.
     *
     * @param yields what POP said gives way to the store's offset
     */
    private static void first(KeyProgress k, KeyState s, boolean yields, Board b) {
        if (lost(s, b)) {
            lose(k, b);
        } else if (!s.exists() && k.traffic == null) {
            k.phase = Phase.GONE; // it was only asked for, or was closed by the file
            k.gate = null;
        } else if (moved(k, s, Math.max(b.view.followed, k.epoch))) {
            move(k, s, b);
        } else if (s.exists() && yields && k.isOfPop()) {
            giveWay(k, s, b);
        } else {
            open(k, s);
            if (k.value != KeyProgress.NONE && k.value < k.acked) {
                k.drop(b, Decision.CLOSED);
                k.value = k.acked;
                k.gate = Gate.moved(); // those who said less are told so
            }
            k.settled(b);
            k.schedule(b);
        }
    }

    /** POP asks the table alone, which had none, and so began at the end of the queue, with what it has under way. */
    private static void giveWay(KeyProgress k, KeyState s, Board b) {
        k.drop(b, Decision.CLOSED);
        open(k, s);
        k.value = k.acked;
        k.gate = k.gate == null ? Gate.ofPop() : k.gate;
    }

    /** A fenced key: its own value gives way to the store's. */
    private static void again(KeyProgress k, KeyState s, Board b) {
        if (lost(s, b)) {
            lose(k, b);
        } else if (!s.exists() || moved(k, s, k.epoch)) {
            move(k, s, b);
        } else {
            k.drop(b, Decision.CLOSED);
            open(k, s);
            k.value = k.acked;
        }
    }

    /** A row of a listing, perhaps older than what an answer has said meanwhile. */
    static void follow(KeyProgress k, KeyState s, Board b) {
        synchronized (k) {
            if (k.phase == Phase.UNREAD) {
                first(k, s, !b.view.master(), b);
            } else if (k.phase == Phase.OPEN || k.phase == Phase.RESET || k.phase == Phase.GONE) {
                followHeld(k, s, b);
            }
        }
    }

    private static void followHeld(KeyProgress k, KeyState s, Board b) {
        if (lost(s, b)) {
            lose(k, b);
        } else if (k.setUnderWay() || s.epoch() < k.epoch) {
            return;
        } else if (s.exists() && s.position().epoch() > k.epoch && moved(k, s, k.epoch)) {
            move(k, s, b);
        } else if (!s.exists()) {
            followAbsent(k, s, b);
        } else if (k.phase != Phase.RESET) {
            raise(k, s, b);
        }
    }

    /** A key that is held and is not there any more was removed; one that never was there is not. */
    private static void followAbsent(KeyProgress k, KeyState s, Board b) {
        if (k.acked != KeyProgress.NONE && s.position().epoch() > k.epoch) {
            move(k, s, b);
        }
    }

    /** Nobody moved it: the higher offset stays. With a newer epoch, by a claim, what is marked is given up. */
    private static void raise(KeyProgress k, KeyState s, Board b) {
        if (s.epoch() > k.epoch) {
            k.drop(b, Decision.CLOSED);
        }
        boolean known = k.acked != KeyProgress.NONE && s.epoch() == k.epoch;
        long before = known ? k.acked : KeyProgress.NONE;
        open(k, s);
        k.acked = Math.max(before, k.acked);
        k.settled(b);
    }

    /**
     * Start and promotion: the store's word replaces whatever is held.
     *
     * @param since the index that the broker had followed to: what is newer was moved
     * @param popYields what the broker's file had, if anything, is in the cluster: no value of POP's is to be merged
     */
    static void adopt(KeyProgress k, KeyState s, long since, boolean popYields, Board b) {
        synchronized (k) {
            if (k.phase == Phase.UNREAD) {
                first(k, s, popYields || !b.view.master(), b);
                return;
            }
            if (lost(s, b)) {
                lose(k, b);
                return;
            }
            found(k, b);
            k.drop(b, Decision.CLOSED);
            if (s.exists() && !moved(k, s, Math.max(since, k.epoch))) {
                release(k, b);
                open(k, s);
                k.value = k.acked;
            } else {
                move(k, s, b);
            }
        }
    }

    /** Start and promotion: what the cluster does not have leaves the table. What the file had stays to be read. */
    static void absent(KeyProgress k, Board b) {
        synchronized (k) {
            if (k.phase == Phase.UNREAD || k.phase == Phase.DEAD) {
                return;
            }
            found(k, b);
            k.drop(b, Decision.CLOSED);
            release(k, b);
            k.phase = Phase.GONE;
            k.value = KeyProgress.NONE;
            k.acked = KeyProgress.NONE;
            k.gate = null;
        }
    }

    /** A reset that is assigned is over. */
    private static void release(KeyProgress k, Board b) {
        if (k.phase == Phase.RESET) {
            k.leaveReset(b);
            b.outbox.release(k.key());
        }
    }

    private static void found(KeyProgress k, Board b) {
        if (k.phase == Phase.LOST) {
            k.phase = Phase.OPEN;
            b.tally.lost.decrement();
        }
    }

    private static boolean lost(KeyState s, Board b) {
        View v = b.view;
        return !Mistake.CLAIM_IGNORED && v.master() && v.claim > 0 && s.claim() > v.claim;
    }

    /** An own epoch that is the claim: created by a commit that carried it, or, where it was held, removed before. */
    private static boolean moved(KeyProgress k, KeyState s, long since) {
        long own = s.position().epoch();
        boolean created = own == s.claim() && k.acked == KeyProgress.NONE;
        return s.position().pending() || own > since && !created;
    }

    private static void open(KeyProgress k, KeyState s) {
        k.phase = Phase.OPEN;
        k.epoch = s.epoch();
        k.acked = s.exists() ? s.position().offset() : KeyProgress.NONE;
    }

    /** It was moved on purpose: the store's word stands, and no consumer's that has not read it. */
    private static void move(KeyProgress k, KeyState s, Board b) {
        k.drop(b, Decision.CLOSED);
        boolean assigned = k.phase == Phase.RESET;
        long before = k.value;
        k.leaveReset(b);
        open(k, s);
        k.value = k.acked;
        k.gate = s.exists() ? Gate.moved() : Gate.removed();
        if (!s.exists()) {
            k.phase = Phase.GONE;
        } else if (b.outbox.neverPulls(k.key())) {
            k.gate = null;
            k.confirm(0, b);
            return;
        } else if (s.position().pending() && b.view.master()) {
            k.assign(before, b);
            return;
        }
        if (assigned) {
            b.outbox.release(k.key());
        }
    }

    /** Another has claimed it. */
    private static void lose(KeyProgress k, Board b) {
        if (k.phase == Phase.LOST) {
            return;
        }
        k.drop(b, Decision.CLOSED);
        release(k, b);
        k.phase = Phase.LOST;
        b.tally.lost.increment();
    }

    /** By the broker's file it is closed: it was moved before the last stop, and nobody has read it since. */
    static void close(KeyProgress k) {
        if (k.phase == Phase.UNREAD && k.gate == null) {
            k.gate = Gate.moved();
        }
    }

    /**
     * An arrival that was broken off has read it, and nobody has sent what is marked: it may be what the file alone
     * has, or the first value of a new key, and is merged by maximum at the next one, too.
     *
     * @param all if not, only of keys that the cluster did not have
     */
    static void unread(KeyProgress k, boolean all) {
        synchronized (k) {
            if (k.phase == Phase.OPEN && k.traffic != null && (all || k.acked == KeyProgress.NONE)) {
                k.phase = Phase.UNREAD;
                k.acked = KeyProgress.NONE;
            }
        }
    }

    /** What the broker's file had, to be merged by maximum once the key has been read. */
    static void merge(KeyProgress k, long offset, Board b) {
        if (k.phase == Phase.UNREAD && k.value < offset) {
            k.value = offset;
            k.markFromFile(b);
        }
    }

    /** Removed by an act of this broker itself, all of which the cluster had done at this index: gone at once. */
    static void removed(KeyProgress k, long index, Board b) {
        synchronized (k) {
            if (k.phase == Phase.LOST || k.phase == Phase.DEAD) {
                return;
            }
            k.drop(b, Decision.CLOSED);
            release(k, b);
            k.phase = Phase.GONE;
            k.value = KeyProgress.NONE;
            k.acked = KeyProgress.NONE;
            k.epoch = Math.max(k.epoch, index);
            k.gate = Gate.removed();
        }
    }

    /** The whole cluster is another one, or the claim is gone: whatever is held is worth nothing. */
    static void lost(KeyProgress k, Board b) {
        synchronized (k) {
            if (k.phase != Phase.DEAD) {
                lose(k, b);
            }
        }
    }

    /**
     * A master becomes a slave, which neither lowers nor has resets of its own: a reset key is closed as it stands.
     * What consumers said of a key that was never read rests on this broker's log alone, and is not served.
     *
     * @param alone that may be what the broker's file has, and nobody else: it stays
     */
    static void demoted(KeyProgress k, boolean alone, Board b) {
        synchronized (k) {
            k.drop(b, Decision.CLOSED);
            if (k.phase == Phase.UNREAD && !alone) {
                k.value = KeyProgress.NONE;
            }
            if (k.phase == Phase.RESET) {
                k.leaveReset(b);
                b.outbox.release(k.key());
                k.gate = Gate.moved();
            }
        }
    }
}
