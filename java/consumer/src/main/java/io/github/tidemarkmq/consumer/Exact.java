package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.concurrent.CompletableFuture;

/**
 * An offset that is to be persisted as it is, whatever the memory holds. What it means is settled when it is given, by
 * {@link ProgressTable#exactly}: until its turn comes, a commit that was under way may raise what the cluster has, and
 * make it look like a lowering.
 */
final class Exact {
    final OffsetKey key;
    final long offset;
    /** Ends when a run has taken it: normally if it is persisted, else with a {@link TidemarkException}. */
    final CompletableFuture<Void> decided = new CompletableFuture<>();
    /** The progress of the queue when it was given, whose epoch it goes by; null: the queue was not read then. */
    QueueProgress progress;
    /** Whether it was below what the cluster had, or was to have by then. */
    boolean lowers;

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
