package io.github.tidemarkmq.broker.progress;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The keys that are to be read from the cluster, in their order. Put in under the key's monitor, once until read. */
final class Reads {
    /** A key to be read, and the waiter for it, or null. */
    static final class Wish {
        final KeyProgress key;
        final Waiter waiter;

        Wish(KeyProgress key, Waiter waiter) {
            this.key = key;
            this.waiter = waiter;
        }
    }

    private final ArrayDeque<Wish> wishes = new ArrayDeque<>();
    /** Wishes with a waiter, nearly in the order in which their time is up. */
    private final ArrayDeque<Wish> asked = new ArrayDeque<>();
    private boolean paused = true;
    private boolean closed;
    /** What was taken is being read. */
    private boolean busy;

    /** Those whose time is over leave, so that a cluster that is away fills no memory. */
    synchronized void put(KeyProgress key, Waiter waiter) {
        while (!asked.isEmpty() && asked.peek().waiter.isDone()) {
            asked.poll();
        }
        (waiter == null ? wishes : asked).add(new Wish(key, waiter));
        notifyAll();
    }

    private boolean isEmpty() {
        return wishes.isEmpty() && asked.isEmpty();
    }

    /** How many there are. */
    synchronized int size() {
        return wishes.size() + asked.size();
    }

    /** Waits for wishes and takes at most max; null once closed. */
    synchronized List<Wish> take(int max) throws InterruptedException {
        busy = false;
        notifyAll();
        while (!closed && (paused || isEmpty())) {
            wait();
        }
        busy = !closed;
        return closed ? null : poll(max);
    }

    /** Waits until there is nothing to read, or no reading; false if that takes longer. */
    synchronized boolean idle(long time, TimeUnit unit) throws InterruptedException {
        long deadline = System.nanoTime() + unit.toNanos(time);
        while (!closed && (busy || !paused && !isEmpty())) {
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
        List<Wish> out = new ArrayList<>(Math.min(max, size()));
        while (out.size() < max && !isEmpty()) {
            out.add(asked.isEmpty() ? wishes.poll() : asked.poll());
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
