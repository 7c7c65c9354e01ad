package io.github.tidemarkmq.client;

import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Cuts connections whose time is up. A socket has a timeout for one read and none for a write or for a whole answer;
 * a peer that sends a byte a second, or reads none of ours, would hold its caller for ever. One daemon thread, only
 * while there is something to watch.
 */
final class Alarms implements AutoCloseable {
    private final ScheduledThreadPoolExecutor timer;

    Alarms() {
        timer = new ScheduledThreadPoolExecutor(1, r -> {
            Thread t = new Thread(r, "tidemark-client-deadlines");
            t.setDaemon(true);
            return t;
        });
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(10, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
    }

    /** Runs what cuts at a deadline, unless it is cancelled before. */
    Future<?> at(Deadline deadline, Runnable cut) throws Failure {
        try {
            return timer.schedule(cut, deadline.remaining(TimeUnit.NANOSECONDS), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            throw Failure.refused(Code.CLOSED, "the client is closed");
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
