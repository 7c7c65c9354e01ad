package io.github.tidemarkmq.broker.manager;

import io.github.tidemarkmq.broker.progress.StartRefused;

/** A {@link StartRefused} on its way through the broker's initialize, which declares none. */
public final class StartEnded extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StartEnded(StartRefused refused) {
        super(refused.getMessage(), refused);
    }

    /** Why. */
    public StartRefused refused() {
        return (StartRefused) getCause();
    }
}
