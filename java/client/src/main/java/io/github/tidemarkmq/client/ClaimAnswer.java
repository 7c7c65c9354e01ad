package io.github.tidemarkmq.client;

import java.util.Objects;

/** The newest claim of a scope, and who holds it. */
public final class ClaimAnswer implements Answer {
    private final Meta meta;
    private final String holder;
    private final long index;

    /** An answer; see the accessors. */
    public ClaimAnswer(Meta meta, String holder, long index) {
        this.meta = Objects.requireNonNull(meta, "meta");
        this.holder = Objects.requireNonNull(holder, "holder");
        this.index = index;
    }

    /** Index, last act and cluster of the answer. */
    @Override
    public Meta meta() {
        return meta;
    }

    /** The name that the claimant gave itself; empty if the scope was never claimed, or by somebody without one. */
    public String holder() {
        return holder;
    }

    /** The claim; 0 if the scope was never claimed. */
    public long index() {
        return index;
    }
}
