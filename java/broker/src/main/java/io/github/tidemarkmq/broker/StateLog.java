package io.github.tidemarkmq.broker;

import io.github.tidemarkmq.broker.progress.Log;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Writes how things stand into the broker's log, once a minute, on a thread of its own. */
final class StateLog {
    private static final long EVERY_SECONDS = 60;

    private final Supplier<Map<String, String>> lines;
    private final Log log;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "tidemark-state");

    StateLog(Supplier<Map<String, String>> lines, Log log) {
        this.lines = lines;
        this.log = log;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Ends the thread, and waits for it. */
    void close() {
        closed.countDown();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            while (!closed.await(EVERY_SECONDS, TimeUnit.SECONDS)) {
                log.info("Tidemark: " + lines.get());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
