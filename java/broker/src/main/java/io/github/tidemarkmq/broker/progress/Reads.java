package io.github.tidemarkmq.broker.progress;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The keys that are to be read from the cluster, in their order. Put in under the key's monitor, once until read. */
final class Reads {
    /** A key to be read, and who waits for it, or null. */
    static final class Wish {
        final KeyProgress key;
        final Waiter waiter;

        Wish(KeyProgress key, Waiter waiter) {
            this.key = key;
            this.waiter = waiter;
        }
    }

    private final ArrayDeque<Wish> wishes = new ArrayDeque<>();
    private boolean paused = true;
    private boolean closed;
    /** What was taken is being read. */
    private boolean busy;

    synchronized void put(KeyProgress key, Waiter waiter) {
        wishes.add(new Wish(key, waiter));
        notifyAll();
    }

    /** Waits for wishes and takes at most max; null once closed. */
    synchronized List<Wish> take(int max) throws InterruptedException {
        busy = false;
        notifyAll();
        while (!closed && (paused || wishes.isEmpty())) {
            wait();
        }
        busy = !closed;
        return closed ? null : poll(max);
    }

    /** Waits until there is nothing to read, or no reading; false if that takes longer. */
    synchronized boolean idle(long time, TimeUnit unit) throws InterruptedException {
        long deadline = System.nanoTime() + unit.toNanos(time);
        while (!closed && (busy || !paused && !wishes.isEmpty())) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }

    /** What is to be read now. */
    synchronized List<Wish> poll(int max) {
        List<Wish> out = new ArrayList<>(Math.min(max, wishes.size()));
        while (out.size() < max && !wishes.isEmpty()) {
            out.add(wishes.poll());
        }
        return out;
    }

    synchronized void pause() {
        paused = true;
    }

    synchronized void go() {
        paused = false;
        notifyAll();
    }

    synchronized void close() {
        closed = true;
        notifyAll();
    }
}
