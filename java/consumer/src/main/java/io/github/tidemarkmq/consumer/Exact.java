package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.concurrent.CompletableFuture;

/** An offset that is to be persisted as it is, whatever the memory holds. */
final class Exact {
    final OffsetKey key;
    final long offset;
    /** Ends when a run has taken it: normally if it is persisted, else with a {@link TidemarkException}. */
    final CompletableFuture<Void> decided = new CompletableFuture<>();

    Exact(OffsetKey key, long offset) {
        this.key = key;
        this.offset = offset;
    }

    void failed(TidemarkException why) {
        decided.completeExceptionally(why);
    }

    /** Ends it, unless it has ended; null: it is persisted. */
    void done(TidemarkException why) {
        if (why == null) {
            decided.complete(null);
        } else {
            failed(why);
        }
    }
}
