package io.github.tidemarkmq.broker.reset;

import io.github.tidemarkmq.broker.progress.Key;

/** What wants to know what became of a reset: {@code progress.Progress}. */
public interface Offsets {
    /** As {@code Progress.followed}. */
    boolean followed(Key key, long offset, String client);

    /** As {@code Progress.assignAgain}. */
    boolean assignAgain(Key key, long offset);
}
