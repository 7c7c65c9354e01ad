package io.github.tidemarkmq.client;

import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** One page of a listing, all from one view of the table; another page may be of a later one. */
public final class KeyPage implements Answer {
    private final Meta meta;
    private final List<KeyState> states;
    private final boolean more;

    /** A page; the list is taken over, not copied. */
    public KeyPage(Meta meta, List<KeyState> states, boolean more) {
        this.meta = Objects.requireNonNull(meta, "meta");
        this.states = Collections.unmodifiableList(states);
        this.more = more;
    }

    /** Index, last act and cluster of this page. Check that the cluster is that of the page before. */
    @Override
    public Meta meta() {
        return meta;
    }

    /** The rows, in the cluster's order. */
    public List<KeyState> states() {
        return states;
    }

    /** Whether there are further rows. */
    public boolean more() {
        return more;
    }

    /** What the next page comes after: the last row's key; null if this page has no row. */
    public OffsetKey last() {
        return states.isEmpty() ? null : states.get(states.size() - 1).key();
    }
}
