package io.github.tidemarkmq.client;

import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** The verdicts on the commits of one request, in the order in which the caller gave them. */
public final class CommitAnswer implements Answer {
    private final Meta meta;
    private final long[] offsets;
    private final List<Refusal> refusals;

    /**
     * An answer. The offsets are those that the keys have after; -1 where refused. The refusals are in ascending
     * order of {@link Refusal#at}. Both are taken over, not copied.
     */
    public CommitAnswer(Meta meta, long[] offsets, List<Refusal> refusals) {
        this.meta = Objects.requireNonNull(meta, "meta");
        this.offsets = offsets;
        this.refusals = Collections.unmodifiableList(refusals);
    }

    /** Index, last act and cluster of the answer. */
    @Override
    public Meta meta() {
        return meta;
    }

    /** How many commits the request had. */
    public int size() {
        return offsets.length;
    }

    /** Whether commit i (from 0) is durable: never lost, and never lowered but by an act. */
    public boolean accepted(int i) {
        return offsets[i] >= 0;
    }

    /** The offset that the key of commit i has now, which may be above the one committed; -1 if it was refused. */
    public long offset(int i) {
        return offsets[i];
    }

    /** The commits that were refused, in ascending order of {@link Refusal#at}; empty if all were accepted. */
    public List<Refusal> refusals() {
        return refusals;
    }
}
