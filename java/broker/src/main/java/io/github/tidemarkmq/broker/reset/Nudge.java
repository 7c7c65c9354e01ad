package io.github.tidemarkmq.broker.reset;

import io.github.tidemarkmq.broker.progress.Key;

/** Makes live consumers of a key notice its reset now, and not at the end of the long poll that they wait in. */
public interface Nudge {
    /** Any thread; must not block. Nothing happens if there are no consumers. */
    void nudge(Key key, long offset);

    /**
     * Whether a nudge is what carries the reset (code 220 of a broker 4.9), so that consumers which come later need
     * one, too. If not, it only hurries, and the next pull or pop fetches the reset by itself.
     */
    boolean carries();
}
