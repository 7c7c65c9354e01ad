package io.github.tidemarkmq.consumer;

/**
 * What a store holds of one queue, and the only transitions of it; DESIGN.md has them as a table. The monitor of the
 * {@link ProgressTable} guards it. It is the Go library's {@code client.entry}, rule by rule.
 */
final class QueueProgress {
    /** No offset, in the fields of this class alone: offsets are 0 or more, and no such number leaves it. */
    static final long NONE = -1;

    /** Of its commits, and of questions about it. */
    final Suspicion commits = new Suspicion();
    final Suspicion reads = new Suspicion();

    /** The application's progress: the next message to consume. */
    private long value = NONE;
    /** Epoch and cluster were taken over, by the read that the progress starts from or by an own set. */
    private boolean read;
    private long epoch;
    private String cluster = "";
    /** The offset of the position in the last answer; what an own set compares. */
    private long known = NONE;
    /** The value acknowledged, or read, last. */
    private long settled = NONE;
    /**
     * The highest value whose commit has an unknown outcome. It is above the value where another offset than that was
     * to be persisted.
     */
    private long doubted = NONE;
    /** The application moved the value down, and that was not said to the cluster yet. */
    private boolean lowered;
    /** The application froze the value. */
    private boolean still;
    /** Why nothing more is sent; null while it is. */
    private Fence.Cause fenced;
    /** A value came while it was fenced. */
    private boolean ignored;

    /** Takes a value of the application's; a negative one is ignored, and any while frozen or fenced. */
    void update(long next, boolean increaseOnly) {
        if (fenced != null) {
            ignored = true;
            return;
        }
        if (next < 0 || still || value != NONE && next <= value && increaseOnly) {
            return;
        }
        lowered |= value != NONE && next < value;
        value = next;
    }

    /** Takes a value and ignores further ones. */
    void freeze(long next) {
        still = false;
        update(next, false);
        still = true;
    }

    /** Takes over what its first read found; {@link #NONE} is no offset. */
    void take(long offset, long epochThen, String clusterThen) {
        read = true;
        epoch = epochThen;
        cluster = clusterThen;
        value = offset;
        known = offset;
        settled = offset;
        doubted = NONE;
        lowered = false;
        still = false;
        fenced = null;
        ignored = false;
    }

    /** What is to be said to the cluster. */
    enum Step { NOTHING, ADVANCE, SET }

    /**
     * What is to be sent now; {@link #sendable} gives the value. A set is sent only with nothing else of the queue
     * under way: a commit whose outcome is unknown is sent again before.
     */
    Step next() {
        if (!read || fenced != null) {
            return Step.NOTHING;
        }
        lowered = down(); // a value that is not below the cluster's is said by a commit
        if (lowered) {
            return doubted != NONE ? Step.ADVANCE : Step.SET;
        }
        return pending() ? Step.ADVANCE : Step.NOTHING;
    }

    /** The value of the step that {@link #next} gave. Nothing is in doubt when a set is sent. */
    long sendable() {
        return Math.max(value, doubted);
    }

    private boolean pending() {
        return doubted != NONE || value != NONE && value != settled;
    }

    private boolean down() {
        return lowered && lowers(value);
    }

    /** The highest value whose commit has an unknown outcome; {@link #NONE} if nothing is in doubt. */
    long doubted() {
        return doubted;
    }

    /** Whether this very offset would lower what the cluster is known to have, or may have. */
    boolean lowers(long offset) {
        return known != NONE && offset < known || doubted != NONE && offset < doubted;
    }

    /** Takes an offset that lowers, whatever the memory holds. */
    void lower(long offset) {
        value = offset;
        lowered = true;
    }

    /**
     * Takes an offset that does not lower as a later word than a lowering that was not said yet, if there is one. The
     * value remains a lowering if it turns out to be below what was under way then.
     */
    void overrule(long offset) {
        if (lowered && offset > value) {
            value = offset;
        }
    }

    /** This very offset is about to be committed; if it is the value, that is a lowering only if it is below. */
    void committing(long offset) {
        if (offset == value) {
            lowered = down();
        }
    }

    /** Whether there is a value that the cluster is not known to have taken. */
    boolean unsaid() {
        return ignored || down() || pending();
    }

    /** The value to name where it is not persisted: the doubt, unless the application has gone below it since. */
    long due() {
        return lowered ? value : sendable();
    }

    /** A commit of {@code sent} was acknowledged; {@code now} is what the cluster has. */
    void advanced(long sent, long now) {
        settled = sent;
        known = now;
        if (doubted <= Math.max(sent, now)) {
            doubted = NONE;
        }
    }

    /** The outcome of a commit of {@code sent} is unknown. */
    void doubt(long sent) {
        doubted = Math.max(doubted, sent);
    }

    /** An own set was acknowledged: its index is the epoch from now on. */
    void moved(long sent, long index) {
        epoch = index;
        known = sent;
        settled = sent;
        lowered = value < sent;
    }

    /** Freezes it until it is removed and read again. */
    void fence(Fence.Cause cause) {
        fenced = cause;
    }

    /** Whether an act that is newer than the epoch, or another cluster, concerns it. */
    boolean missed(long epochNow, String clusterNow) {
        return !clusterNow.equals(cluster) || epochNow > epoch;
    }

    /** The progress, or {@link #NONE}; also of a fenced queue, where it is not to be relied on. */
    long value() {
        return value;
    }

    /** What an own set compares; {@link #NONE} if there is no offset. */
    long known() {
        return known;
    }

    boolean read() {
        return read;
    }

    /** Whether acts can concern it: it was read, and is not fenced. */
    boolean live() {
        return read && fenced == null;
    }

    Fence.Cause fenced() {
        return fenced;
    }

    long epoch() {
        return epoch;
    }

    String cluster() {
        return cluster;
    }
}
