package io.github.tidemarkmq.client;

import java.util.Objects;

/** A key and the offset that it shall have, 0 or more. */
public final class Target {
    private final OffsetKey key;
    private final long offset;

    /** A target. */
    public Target(OffsetKey key, long offset) {
        this.key = Objects.requireNonNull(key, "key");
        this.offset = offset;
    }

    /** The key. */
    public OffsetKey key() {
        return key;
    }

    /** The offset. */
    public long offset() {
        return offset;
    }
}
