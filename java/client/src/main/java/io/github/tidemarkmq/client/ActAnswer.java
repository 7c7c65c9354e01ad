package io.github.tidemarkmq.client;

import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** The cluster's answer to an act, the same to each resend. */
public final class ActAnswer implements Answer {
    private final Meta meta;
    private final Code code;
    private final long index;
    private final boolean done;
    private final int next;
    private final long changed;
    private final long kept;
    private final List<OffsetKey> names;

    /** An answer; see the accessors. The list is taken over, not copied. */
    public ActAnswer(Meta meta, Code code, long index, boolean done, int next, long changed, long kept,
        List<OffsetKey> names) {
        this.meta = Objects.requireNonNull(meta, "meta");
        this.code = Objects.requireNonNull(code, "code");
        this.index = index;
        this.done = done;
        this.next = next;
        this.changed = changed;
        this.kept = kept;
        this.names = Collections.unmodifiableList(names);
    }

    /** Index, last act and cluster of the answer. */
    @Override
    public Meta meta() {
        return meta;
    }

    /** {@link Code#OK}, or why it was refused. */
    public Code code() {
        return code;
    }

    /** The raft index of the act's own entry: of a reset the new epoch of its keys, of a claim the claim. */
    public long index() {
        return index;
    }

    /** False while an import is under way. */
    public boolean done() {
        return done;
    }

    /** Of an import: the chunk that is expected next. */
    public int next() {
        return next;
    }

    /** How many keys it changed. */
    public long changed() {
        return changed;
    }

    /** How many keys it left alone since they are newer than its base, or, of a merge, not lower. */
    public long kept() {
        return kept;
    }

    /** The first 100 keys that were left alone since they are newer than the base. */
    public List<OffsetKey> names() {
        return names;
    }
}
