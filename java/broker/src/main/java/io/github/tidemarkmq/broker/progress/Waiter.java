package io.github.tidemarkmq.broker.progress;

import java.util.concurrent.atomic.AtomicBoolean;

/** A two-way commit that waits to be decided, once. */
final class Waiter {
    private final Decided decided;
    private final Waiters home;
    private final AtomicBoolean done = new AtomicBoolean();
    /** When it is answered "not yet", by System.nanoTime. */
    final long deadline;
    /** Which value of its key it waits for. Guarded by the key. */
    int seq;

    Waiter(Decided decided, long deadline, Waiters home) {
        this.decided = decided;
        this.deadline = deadline;
        this.home = home;
    }

    boolean isDone() {
        return done.get();
    }

    /** Decides it, if nobody has. Holds no lock of a key while it calls. */
    void decide(Decided.Decision decision) {
        if (done.compareAndSet(false, true)) {
            home.left();
            decided.decided(decision);
        }
    }
}
