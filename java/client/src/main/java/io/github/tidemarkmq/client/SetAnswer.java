package io.github.tidemarkmq.client;

import java.util.Objects;

/** A set that is done, or as good as done. */
public final class SetAnswer implements Answer {
    private final Meta meta;
    private final KeyState state;

    /** An answer with the key as it is after. */
    public SetAnswer(Meta meta, KeyState state) {
        this.meta = Objects.requireNonNull(meta, "meta");
        this.state = Objects.requireNonNull(state, "state");
    }

    /** Index, last act and cluster of the answer. */
    @Override
    public Meta meta() {
        return meta;
    }

    /** The key as it is after; its epoch is the one that the next commit must carry. */
    public KeyState state() {
        return state;
    }
}
