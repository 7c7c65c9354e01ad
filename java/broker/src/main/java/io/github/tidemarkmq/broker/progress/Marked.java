package io.github.tidemarkmq.broker.progress;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The keys that have something to send, each once, in the order in which they were marked. A key whose value rests on a
 * part of the log that is not durable yet waits until it is.
 */
final class Marked {
    /** A key and the position that it waits for. */
    private static final class Resting {
        final KeyProgress key;
        final long position;

        Resting(KeyProgress key, long position) {
            this.key = key;
            this.position = position;
        }
    }

    private final LogEnd log;
    private final ArrayDeque<KeyProgress> ready = new ArrayDeque<>();
    /** In the order of their coming, which is nearly that of their positions. */
    private final ArrayDeque<Resting> resting = new ArrayDeque<>();
    private boolean paused = true;
    private boolean closed;
    private int taken;

    Marked(LogEnd log) {
        this.log = log;
    }

    /** Takes a key in. A key is locked. */
    void put(KeyProgress key, long position, boolean soon) {
        if (position > log.durable()) {
            log.want(position, soon);
            synchronized (this) {
                resting.add(new Resting(key, position));
                // The log may have come here in between, and its call have found nothing.
                if (position <= log.durable()) {
                    notifyAll();
                }
            }
            return;
        }
        synchronized (this) {
            ready.add(key);
            if (ready.size() == 1) {
                notify();
            }
        }
    }

    /** The log has become more durable. */
    synchronized void logMoved() {
        if (!resting.isEmpty()) {
            notifyAll();
        }
    }

    /** Waits for keys to send and takes at most max; null once closed. Each taking ends with {@link #sent}. */
    synchronized List<KeyProgress> take(int max) throws InterruptedException {
        while (!closed) {
            List<KeyProgress> keys = poll(max);
            if (!keys.isEmpty()) {
                taken++;
                return keys;
            }
            wait();
        }
        return null;
    }

    /** What could be sent now. */
    synchronized List<KeyProgress> poll(int max) {
        wake();
        int n = paused ? 0 : Math.min(max, ready.size());
        List<KeyProgress> keys = new ArrayList<>(n);
        while (keys.size() < n) {
            keys.add(ready.poll());
        }
        return keys;
    }

    private void wake() {
        long durable = log.durable();
        while (!resting.isEmpty() && resting.peek().position <= durable) {
            ready.add(resting.poll().key);
        }
    }

    /** One more is under way on its own; it too ends with {@link #sent}. */
    synchronized void hold() {
        taken++;
    }

    /** What was taken is sent, and its outcome noted, or given back. */
    synchronized void sent() {
        taken--;
        notifyAll();
    }

    /** Nothing is taken from now on; {@link #idle} says when what was taken is done. */
    synchronized void pause() {
        paused = true;
    }

    /** Continues, and checks again all that waits for the log: a broker that changed its role may have cut its log. */
    synchronized void go() {
        while (!resting.isEmpty()) {
            ready.add(resting.poll().key);
        }
        paused = false;
        notifyAll();
    }

    /** Waits until nothing is under way, and nothing (if empty) left to send; false if that takes longer. */
    synchronized boolean idle(long time, TimeUnit unit, boolean empty) throws InterruptedException {
        long deadline = System.nanoTime() + unit.toNanos(time);
        wake();
        while (taken > 0 || empty && !paused && !(ready.isEmpty() && resting.isEmpty())) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
            wake();
            notify(); // it may have been meant for a sender
        }
        return true;
    }

    synchronized void close() {
        closed = true;
        notifyAll();
    }
}
