package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import org.junit.jupiter.api.Test;

/** Who asks for a key while the cluster is away leaves nothing behind. */
class ReadsTest {
    private static final Log QUIET = new Log() {
        @Override
        public void info(String line) {
        }

        @Override
        public void warn(String line) {
        }

        @Override
        public void error(String line, Throwable cause) {
        }
    };

    @Test
    void whoHasItsAnswerLeaves() {
        Reads reads = new Reads();
        Waiters waiters = new Waiters(3_600_000, 1_000, QUIET);
        KeyProgress key = new KeyProgress(new Queues("orders", "billing"), 3);
        reads.put(key, null);
        for (int i = 0; i < 1_000; i++) {
            Waiter w = waiters.enter(d -> { });
            reads.put(key, w);
            w.decide(Decision.NOT_YET); // its time is over
        }
        assertEquals(2, reads.size(), "the key's own, and the last one");
    }
}
