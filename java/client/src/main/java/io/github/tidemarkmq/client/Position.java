package io.github.tidemarkmq.client;

/** What is stored for a key. */
public final class Position {
    private final long offset;
    private final long index;
    private final long epoch;
    private final long time;
    private final boolean pending;

    /** A position; see the accessors. */
    public Position(long offset, long index, long epoch, long time, boolean pending) {
        this.offset = offset;
        this.index = index;
        this.epoch = epoch;
        this.time = time;
        this.pending = pending;
    }

    /** The next message to consume, 0 or more. */
    public long offset() {
        return offset;
    }

    /** The raft index of the last change. Several changes can share one, so it never decides a write. */
    public long index() {
        return index;
    }

    /** The key's own epoch: the raft index of the last act that changed it. What operators compare. */
    public long epoch() {
        return epoch;
    }

    /** When it changed last, Unix milliseconds by the leader's clock; information only. */
    public long time() {
        return time;
    }

    /** Whether an operator moved it and no commit under its epoch has followed yet. */
    public boolean pending() {
        return pending;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Position)) {
            return false;
        }
        Position o = (Position) other;
        return offset == o.offset && index == o.index && epoch == o.epoch && time == o.time && pending == o.pending;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(offset) * 31 + Long.hashCode(index);
    }

    @Override
    public String toString() {
        return "offset " + offset + ", index " + index + ", epoch " + epoch + (pending ? ", pending" : "");
    }
}
