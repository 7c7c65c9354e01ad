package io.github.tidemarkmq.broker.store;

import io.github.tidemarkmq.broker.planted.Mistake;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.LogEnd;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where the commit log ends, and up to where it is durable. A broker with flushDiskType=ASYNC_FLUSH writes to the disk
 * every 500 ms if four pages have changed, and otherwise after 10 s (flushCommitLogLeastPages,
 * flushCommitLogThoroughInterval): too late for whoever waits for an offset. So what is wanted is flushed here: at once
 * where somebody waits for an answer, else {@link #FLUSH_MILLIS} after it came, if the broker has not done so.
 *
 * <p>One thread of its own, from {@link #start} to {@link #close}, does that and looks after the slaves.
 */
public final class CommitLogEnd implements LogEnd {
    /** How long what nobody waits for is left to the broker's own flush: what is delivered again after a kill is as old
     * as the last flush, and a twentieth of what a broker's own file costs (it is 2.5 s old on average). */
    static final long FLUSH_MILLIS = 100;
    /** Least time between two flushes for those who wait: many two-way commits share one. */
    private static final long SOON_MILLIS = 5;
    /** How often it is looked whether the broker or a slave has moved, while something is wanted. */
    private static final long LOOK_MILLIS = 10;
    /** How often otherwise: slaves come and go. */
    private static final long IDLE_MILLIS = 1_000;

    private final boolean flushes;
    private final Log log;
    private final Replication replication = new Replication(); // of the thread
    private final Thread thread = new Thread(this::run, "tidemark-log");

    private volatile LogView view = NOT_OPEN;
    /** Up to where the slaves hold the log, as last looked at. */
    private volatile long replicated = Long.MAX_VALUE;
    private volatile Runnable moved = () -> { };

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // Under lock.
    private long wanted;        // up to where something waits
    private long wantedSoon;    // up to where somebody waits for an answer
    private long flushAtMillis; // when what is wanted has to be flushed
    private long flushedMillis; // when it was last
    private boolean closed;

    /**
     * The end of a log that is not open yet: at 0.
     *
     * @param flushes whether to flush what is wanted; if not, all waits for the broker's own flush
     */
    public CommitLogEnd(boolean flushes, Log log) {
        this.flushes = flushes;
        this.log = log;
        thread.setDaemon(true);
    }

    /** Opens it, over the log of a message store that is loaded, and starts its thread. */
    public void start(LogView log) {
        view = log;
        thread.start();
    }

    /** Ends the thread, and waits for it: for a disk write, at most. The message store may be closed by then. */
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        try {
            thread.join(TimeUnit.SECONDS.toMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public long end() {
        return view.written();
    }

    @Override
    public long durable() {
        return Mistake.LOG_NOT_AWAITED ? end() : Math.min(view.flushed(), replicated);
    }

    @Override
    public void want(long position, boolean soon) {
        lock.lock();
        try {
            boolean idle = wanted <= durable();
            if (idle) {
                flushAtMillis = millis() + FLUSH_MILLIS;
            }
            wanted = Math.max(wanted, position);
            if (soon) {
                wantedSoon = Math.max(wantedSoon, position);
            }
            if (idle || soon) {
                changed.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onAdvance(Runnable callee) {
        moved = callee;
    }

    private void run() {
        long seen = -1;
        while (await()) {
            try {
                long now = look();
                if (now != seen) {
                    seen = now;
                    moved.run();
                }
            } catch (RuntimeException | Error e) {
                log.error("Looking how far the commit log is durable failed; commits that rest on it wait.", e);
            }
        }
    }

    /** Flushes if it is time to, and looks how far the log is durable. */
    private long look() {
        if (flushes && flushIsDue()) {
            view.flush();
        }
        replicated = Math.max(0, replication.replicated(millis(), view.written(), view.replicas()));
        return durable();
    }

    private boolean flushIsDue() {
        lock.lock();
        try {
            // A master that becomes a slave cuts its log. Nothing that was wanted can be beyond the end otherwise.
            long end = view.written();
            wanted = Math.min(wanted, end);
            wantedSoon = Math.min(wantedSoon, end);
            long flushed = view.flushed();
            long now = millis();
            boolean due = wantedSoon > flushed && now - flushedMillis >= SOON_MILLIS
                || wanted > flushed && now >= flushAtMillis;
            if (due) {
                flushedMillis = now;
                flushAtMillis = now + FLUSH_MILLIS;
            }
            return due;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until there is something to look at. False once closed. */
    private boolean await() {
        lock.lock();
        try {
            if (!closed) {
                changed.await(pause(), TimeUnit.MILLISECONDS);
            }
            return !closed;
        } catch (InterruptedException e) {
            return false; // nobody interrupts this thread but an end of the process
        } finally {
            lock.unlock();
        }
    }

    private long pause() {
        if (flushes && wantedSoon > view.flushed()) {
            return SOON_MILLIS;
        }
        return wanted > durable() ? LOOK_MILLIS : IDLE_MILLIS;
    }

    private static final LogView NOT_OPEN = new LogView() {
        @Override
        public long written() {
            return 0;
        }

        @Override
        public long flushed() {
            return 0;
        }

        @Override
        public void flush() {
        }

        @Override
        public List<Replica> replicas() {
            return Collections.emptyList();
        }

        @Override
        public boolean agreed() {
            return true;
        }
    };

    private static long millis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    }
}
