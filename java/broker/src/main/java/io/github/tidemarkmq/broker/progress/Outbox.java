package io.github.tidemarkmq.broker.progress;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The consequences of changes of keys for others (resets, answers), reported in the order of the changes by one thread
 * that holds no lock. Bounded by the keys and waiters that there are to report on.
 */
final class Outbox implements Runnable {
    private static final Runnable END = () -> { };

    private final LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
    private final Consumers consumers;
    private final Log lines;

    Outbox(Consumers consumers, Log lines) {
        this.consumers = consumers;
        this.lines = lines;
    }

    void assign(Key key, long before, long offset) {
        queue.add(() -> consumers.assign(key, before, offset));
    }

    void release(Key key) {
        queue.add(() -> consumers.release(key));
    }

    void tell(Runnable what) {
        queue.add(what);
    }

    void decide(Waiter waiter, Decided.Decision decision) {
        queue.add(() -> waiter.decide(decision));
    }

    boolean neverPulls(Key key) {
        return consumers.neverPulls(key);
    }

    /** Waits until what is in it now has been reported; false if that takes longer. */
    boolean flush(long millis) {
        CountDownLatch told = new CountDownLatch(1);
        queue.add(told::countDown);
        try {
            return told.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void run() {
        try {
            for (Runnable r = queue.take(); r != END; r = queue.take()) {
                call(r);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A callee that fails must not take the others' answers along. */
    private void call(Runnable r) {
        try {
            r.run();
        } catch (RuntimeException | Error e) {
            lines.error("tidemark: telling of a reset or an answer failed", e);
        }
    }

    /** Ends run once all that is in it has been reported. */
    void close() {
        queue.add(END);
    }
}
