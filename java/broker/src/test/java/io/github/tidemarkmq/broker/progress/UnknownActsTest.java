package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.github.tidemarkmq.client.ActHeader;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class UnknownActsTest {
    private long now = Long.MAX_VALUE - 5; // nanoTime may be anything, and turn over
    private final UnknownActs acts = new UnknownActs(() -> now);
    private final ActHeader act = new ActHeader("00112233445566778899aabbccddeeff", 7, "ffeeddccbbaa99887766554433221100", 3);

    @Test
    void theSameCommandIsTheSameActForAMinute() {
        acts.put("remove billing", act);
        now += TimeUnit.SECONDS.toNanos(59);
        assertSame(act, acts.get("remove billing"));
        acts.put("remove billing", act); // again without an answer: no minute more
        assertNull(acts.get("remove audit"));
        now += TimeUnit.SECONDS.toNanos(2);
        assertNull(acts.get("remove billing"));
    }

    @Test
    void whatIsAnsweredIsForgotten() {
        acts.put("remove billing", act);
        acts.forget("remove billing");
        assertNull(acts.get("remove billing"));
    }

    @Test
    void theOldestAreForgottenFirst() {
        for (int i = 0; i <= 100; i++) {
            acts.put("remove " + i, act);
        }
        assertNull(acts.get("remove 0"));
        assertSame(act, acts.get("remove 100"));
    }
}
