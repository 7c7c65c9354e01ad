package io.github.tidemarkmq.broker.reset;

import io.github.tidemarkmq.broker.progress.Key;
import java.util.Map;

/** Makes live consumers notice resets now, and not at the end of the long poll that they wait in. */
public interface Nudge {
    /** Resets, by key. Must not block. Nothing happens where there are no consumers. */
    void nudge(Map<Key, Long> resets);

    /**
     * Whether a nudge is what carries the reset (code 220 of a broker 4.9): then many travel together, and consumers
     * that come later need one, too. If not, it only hurries: the next pull or pop fetches the reset by itself.
     */
    boolean carries();
}
