package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Keys wait for the log, but not for one that has been cut. */
class MarkedTest {
    private static final LogEnd CUT = new LogEnd() {
        @Override
        public long end() {
            return 10;
        }

        @Override
        public long durable() {
            return 10;
        }

        @Override
        public void want(long position, boolean soon) {
        }

        @Override
        public void onAdvance(Runnable moved) {
        }
    };

    @Test
    void whatWaitsForAPartOfTheLogThatIsGoneIsLookedAtAnew() {
        Marked marked = new Marked(CUT);
        KeyProgress key = new KeyProgress(new Queues("orders", "billing"), 3);
        marked.go();
        marked.put(key, 1_000, false);
        assertEquals(Collections.emptyList(), marked.poll(10));
        marked.pause();
        marked.go();
        List<KeyProgress> keys = marked.poll(10);
        assertEquals(Collections.singletonList(key), keys);
    }
}
