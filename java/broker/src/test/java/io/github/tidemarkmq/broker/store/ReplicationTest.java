package io.github.tidemarkmq.broker.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReplicationTest {
    private final Replication replication = new Replication();
    private long millis = 5_000_000;

    private long at(long end, Replica... replicas) {
        List<Replica> all = Arrays.asList(replicas);
        return replication.replicated(millis, end, all);
    }

    private static Replica slave(long acked) {
        return new Replica(acked, false);
    }

    private static Replica member(long acked) {
        return new Replica(acked, true);
    }

    @Test
    void noSlaveHoldsNothingBack() {
        assertEquals(Long.MAX_VALUE, replication.replicated(millis, 100, Collections.emptyList()));
    }

    @Test
    void theSlowestSlaveCounts() {
        assertEquals(70, at(100, slave(90), slave(70)));
    }

    @Test
    void aSlaveThatStopsIsWaitedForTenSeconds() {
        for (int second = 0; second < 10; second++) {
            assertEquals(100, at(101 + second, slave(100)), "second " + second);
            millis += 1_000;
        }
        millis += 1;
        assertEquals(Long.MAX_VALUE, at(200, slave(100)));
    }

    @Test
    void itIsWaitedForAgainOnceItHasCaughtUp() {
        at(500, slave(100));
        millis += Replication.PATIENCE_MILLIS + 1;
        assertEquals(Long.MAX_VALUE, at(600, slave(100)));
        assertEquals(Long.MAX_VALUE, at(600, slave(499)));
        assertEquals(500, at(600, slave(500)), "it holds what the log held ten seconds ago");
    }

    @Test
    void aSlaveThatLagsLessThanTenSecondsIsWaitedForHoweverLongItGoesOn() {
        for (long end = 0; end < 100_000; end += 1_000) {
            long acked = Math.max(0, end - 9_000); // a thousand bytes a second, nine seconds behind
            assertEquals(acked, at(end, slave(acked)), "end " + end);
            millis += 1_000;
        }
    }

    @Test
    void anIdleLogWaitsForNobodyWhoHoldsItAll() {
        at(100, slave(100));
        millis += 3_600_000;
        assertEquals(100, at(100, slave(100)));
    }

    @Test
    void aMemberOfTheInSyncSetIsWaitedForAMinuteAlsoWhileItIsAway() {
        at(100, member(100));
        millis += 59_000;
        assertEquals(-1, at(200, member(-1)));
        millis += 1_001;
        assertEquals(Long.MAX_VALUE, at(300, member(-1)));
    }

    @Test
    void aNewSlaveOfALogThatIsOlderHoldsNothingBack() {
        at(1_000, slave(1_000));
        millis += Replication.PATIENCE_MILLIS;
        assertEquals(1_000, at(1_000, slave(1_000), slave(-1)));
    }
}
