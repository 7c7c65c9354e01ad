package io.github.tidemarkmq.client;

import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** The states of the keys asked for, all from one view of the table, in the order of the request. */
public final class FetchAnswer implements Answer {
    private final Meta meta;
    private final List<KeyState> states;

    /** An answer; the list is taken over, not copied. */
    public FetchAnswer(Meta meta, List<KeyState> states) {
        this.meta = Objects.requireNonNull(meta, "meta");
        this.states = Collections.unmodifiableList(states);
    }

    /** Index, last act and cluster of the answer. */
    @Override
    public Meta meta() {
        return meta;
    }

    /** One state for each key, in the order of the request. */
    public List<KeyState> states() {
        return states;
    }
}
