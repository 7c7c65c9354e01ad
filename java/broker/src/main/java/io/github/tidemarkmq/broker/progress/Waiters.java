package io.github.tidemarkmq.broker.progress;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The two-way commits that wait, and the one thread that ends the waiting of each after its bound. */
final class Waiters implements Runnable {
    private final long nanos;
    private final int max;
    private final Log lines;
    private final AtomicInteger waiting = new AtomicInteger();
    /** In the order of their deadlines, which is that of their coming. Guarded by this. */
    private final ArrayDeque<Waiter> order = new ArrayDeque<>();
    private boolean closed;

    Waiters(long millis, int max, Log lines) {
        this.lines = lines;
        this.nanos = TimeUnit.MILLISECONDS.toNanos(millis);
        this.max = max;
    }

    /** A waiter for decided; null if there are too many. */
    synchronized Waiter enter(Decided decided) {
        if (closed || order.size() >= 2 * max || waiting.get() >= max) {
            return null;
        }
        waiting.incrementAndGet();
        Waiter w = new Waiter(decided, System.nanoTime() + nanos, this);
        order.add(w);
        if (order.size() == 1) {
            notifyAll();
        }
        return w;
    }

    void left() {
        waiting.decrementAndGet();
    }

    int count() {
        return waiting.get();
    }

    /** Decides those whose time is over, until closed; then all. */
    @Override
    public void run() {
        for (Waiter w = next(); w != null; w = next()) {
            end(w);
        }
    }

    /** A callee that fails must not take the others' answers along. */
    private void end(Waiter w) {
        try {
            w.decide(Decided.Decision.NOT_YET);
        } catch (RuntimeException | Error e) {
            lines.error("tidemark: telling that a commit is not durable yet failed", e);
        }
    }

    /** Waits for the next one that is decided already or whose time is over; null once closed and empty. */
    private synchronized Waiter next() {
        try {
            while (!closed || !order.isEmpty()) {
                Waiter w = order.peek();
                long left = w == null ? 0 : w.deadline - System.nanoTime();
                if (w != null && (closed || w.isDone() || left <= 0)) {
                    return order.poll();
                }
                TimeUnit.NANOSECONDS.timedWait(this, w == null ? TimeUnit.HOURS.toNanos(1) : left);
            }
        } catch (InterruptedException e) {
            closed = true;
            return order.poll();
        }
        return null;
    }

    /** Answers whoever waits, and takes no more. */
    synchronized void close() {
        closed = true;
        notifyAll();
    }
}
