package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.OffsetKey;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The fenced queues whose consumer is to be moved: stopped at once, begun again a second later, tried again until that
 * is done. A thread of its own does it, since a consumer may hold its locks for long.
 */
final class Moves {
    /** Begins one fenced queue again; whether it is done. */
    interface Again {
        boolean again(OffsetKey key, QueueProgress fenced);
    }

    /** The least time from a stop to a beginning, in milliseconds: far more than a thread needs for one step. */
    private static final long GRACE = 1000;

    /** A fenced queue that waits. */
    private static final class Waiting {
        final QueueProgress fenced;
        final long since = System.nanoTime();

        Waiting(QueueProgress fenced) {
            this.fenced = fenced;
        }

        boolean due() {
            return System.nanoTime() - since >= TimeUnit.MILLISECONDS.toNanos(GRACE);
        }
    }

    private final Again again;
    private final ExecutorService mover;
    /** Guarded by the monitor: the queues to move, and of these the ones that are being moved. */
    private final Map<OffsetKey, Waiting> waiting = new HashMap<>();
    private final Set<OffsetKey> moving = new HashSet<>();

    Moves(String name, Again again) {
        this.again = again;
        this.mover = Executors.newSingleThreadExecutor(work -> {
            Thread t = new Thread(work, name);
            t.setDaemon(true);
            return t;
        });
    }

    /** Begins the queues again whose time has come. Called at least once in an interval. */
    synchronized void go() {
        if (mover.isShutdown()) {
            return;
        }
        waiting.forEach((key, w) -> {
            if (w.due() && moving.add(key)) {
                mover.execute(() -> move(key, w));
            }
        });
    }

    /** Adds a queue that was just fenced, and stopped. */
    synchronized void add(OffsetKey key, QueueProgress fenced) {
        waiting.put(key, new Waiting(fenced));
    }

    private void move(OffsetKey key, Waiting w) {
        boolean done = false;
        try {
            done = again.again(key, w.fenced);
        } finally {
            ended(key, w, done);
        }
    }

    private synchronized void ended(OffsetKey key, Waiting w, boolean done) {
        moving.remove(key);
        if (done) {
            waiting.remove(key, w);
        }
    }

    /** Ends it; a move under way comes to its end, or the deadline does. */
    void close(Deadline deadline) throws InterruptedException {
        synchronized (this) {
            waiting.clear();
            mover.shutdownNow();
        }
        mover.awaitTermination(Math.max(0, deadline.remaining(TimeUnit.MILLISECONDS)), TimeUnit.MILLISECONDS);
    }
}
