package io.github.tidemarkmq.client;

import java.util.Objects;

/** What a consumer says of one key: if the epoch is the key's, the larger offset stays; if not, it is fenced. */
public final class Commit {
    private final OffsetKey key;
    private final long offset;
    private final long epoch;

    /** A commit of the next message to consume (0 or more), with the epoch that its sender read. */
    public Commit(OffsetKey key, long offset, long epoch) {
        this.key = Objects.requireNonNull(key, "key");
        this.offset = offset;
        this.epoch = epoch;
    }

    /** The key. */
    public OffsetKey key() {
        return key;
    }

    /** The next message to consume. */
    public long offset() {
        return offset;
    }

    /** {@link KeyState#epoch} of the read that the consumer began from. */
    public long epoch() {
        return epoch;
    }
}
