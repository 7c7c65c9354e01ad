package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Whether the cluster answers: logged once when it stops and once when it is back; slows down those who try.
 * Any thread.
 */
final class Contact {
    private static final long FIRST_MILLIS = 20;
    private static final long MOST_MILLIS = 1_000;

    private final Tally tally;
    private final Log lines;
    private boolean told;
    private volatile boolean closed;

    Contact(Tally tally, Log lines) {
        this.tally = tally;
        this.lines = lines;
    }

    /** An answer came. */
    void answered() {
        if (!tally.reachable) {
            tally.reachable = true;
            back();
        }
    }

    private synchronized void back() {
        if (told) {
            told = false;
            lines.info("tidemark: the cluster answers again; what waited is being sent");
        }
    }

    /** A call of the client. */
    interface Call<T> {
        T send() throws TidemarkException;
    }

    /** Makes a call; an undeclared exception of the client, or an Error, is logged, and is an unknown outcome. */
    <T> T call(Call<T> call) throws TidemarkException {
        try {
            return call.send();
        } catch (RuntimeException | Error e) {
            lines.error("tidemark: a call of the cluster's client failed; it is tried again", e);
            throw new TidemarkException(Code.OUTCOME_UNKNOWN, e.toString());
        }
    }

    /** A thread of ours failed at something, and continues after this pause. */
    void stumbled(String at, Throwable e) throws InterruptedException {
        lines.error("tidemark: " + at + " failed; it goes on with what comes next", e);
        pause(4);
    }

    /** No answer came, or a refusal. */
    void failed(TidemarkException e) {
        if (e.code().retriable()) {
            tally.reachable = false;
        }
        tell(e);
    }

    private synchronized void tell(TidemarkException e) {
        if (!told && !closed) {
            told = true;
            lines.warn("tidemark: the cluster does not take offsets (" + e.code() + ": " + e.getMessage()
                + "). Consumers go on; the newest offset of each queue waits in memory, and two-way commits are"
                + " answered with code 2 until it does");
        }
    }

    /** As {@link #pause(int)}, for a thread that is not ours; false if it was interrupted, and stays so. */
    boolean pause() {
        try {
            pause(4);
            return !closed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Waits before the next try: the longer, the more have failed, and never as long as another. */
    void pause(int failures) throws InterruptedException {
        long most = Math.min(MOST_MILLIS, FIRST_MILLIS << Math.min(failures, 6));
        long deadline = System.nanoTime() + ThreadLocalRandom.current().nextLong(most / 2, most) * 1_000_000;
        synchronized (this) {
            for (long left = deadline - System.nanoTime(); left > 0 && !closed; left = deadline - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        }
    }

    synchronized void close() {
        closed = true;
        notifyAll();
    }

    boolean isClosed() {
        return closed;
    }

    /** An exception for an answer that belongs to another cluster than the one whose epochs are held. */
    static TidemarkException foreign(Meta meta, String ours) {
        return new TidemarkException(Code.FOREIGN_CLUSTER, "the cluster that answers is " + meta.clusterId()
            + ", this broker's offsets are in " + ours + ": check tidemarkEndpoints");
    }
}
