package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Deadline;
import java.util.concurrent.TimeUnit;

/**
 * One thread that runs a step again and again, with a pause before each, or at once when somebody asks. Steps never
 * overlap. The thread is a daemon: an application that ends without closing its store is not held up.
 */
final class PersistLoop {
    private final Runnable step;
    private final long pause;
    private final Thread thread;
    /** Guarded by the monitor: how many steps were asked for, and how many of these are done. */
    private long asked;
    private long done;
    private boolean closed;

    PersistLoop(String name, long pauseMillis, Runnable step) {
        this.step = step;
        this.pause = pauseMillis;
        this.thread = new Thread(this::run, name);
        this.thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Asks for a step that begins from now on; what it returns goes to {@link #await}. */
    synchronized long ask() {
        asked++;
        notifyAll();
        return asked;
    }

    /** Waits until the step asked for is done; not in the loop's own thread, which it would wait for. */
    synchronized void await(long ticket, Deadline deadline) throws InterruptedException {
        while (done < ticket && thread.isAlive() && Thread.currentThread() != thread) {
            long left = deadline.remaining(TimeUnit.MILLISECONDS);
            if (left <= 0) {
                return;
            }
            wait(left);
        }
    }

    /** Ends the loop: a step under way comes to its end, or the deadline does. Whether the thread has ended. */
    boolean close(Deadline deadline) throws InterruptedException {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        thread.join(Math.max(1, deadline.remaining(TimeUnit.MILLISECONDS)));
        return !thread.isAlive();
    }

    private void run() {
        for (long ticket = rest(); ticket >= 0; ticket = rest()) {
            step.run();
            finish(ticket);
        }
    }

    /** Waits for the time of the next step, and gives the ticket that it serves; negative: there is none. */
    private synchronized long rest() {
        Deadline next = Deadline.after(pause, TimeUnit.MILLISECONDS);
        while (!closed && asked == done) {
            long left = next.remaining(TimeUnit.MILLISECONDS);
            if (left <= 0) {
                break;
            }
            try {
                wait(left);
            } catch (InterruptedException e) {
                continue; // none of ours, which would end it by close
            }
        }
        return closed ? -1 : asked;
    }

    private synchronized void finish(long ticket) {
        done = ticket;
        notifyAll();
    }
}
