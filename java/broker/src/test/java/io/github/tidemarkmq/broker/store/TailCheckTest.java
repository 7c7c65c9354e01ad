package io.github.tidemarkmq.broker.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Rows;
import io.github.tidemarkmq.broker.progress.StartRefused;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class TailCheckTest {
    private final Broker broker = new Broker();

    private TailCheck check(TailCheck.Policy policy) {
        return new TailCheck(broker, broker, broker, policy, broker);
    }

    /** 200 queues of a topic that end at 100, and what a group has of them: all. */
    private void busyBroker() {
        for (int q = 0; q < 200; q++) {
            broker.ends.put(new Key("orders", "", q), 100L);
            broker.offsets.put(new Key("orders", "billing", q), 100L);
        }
    }

    private static Key key(String group, int queue) {
        return new Key("orders", group, queue);
    }

    @Test
    void whatIsNotBeyondTheEndStays() throws StartRefused {
        busyBroker();
        check(TailCheck.Policy.END).atStart();
        assertEquals(Collections.emptyMap(), broker.assigned);
    }

    @Test
    void aLostTailIsLoweredToTheEnd() throws StartRefused {
        busyBroker();
        broker.offsets.put(key("billing", 3), 120L);
        broker.offsets.put(key("audit", 3), 110L);
        broker.offsets.put(key("audit", 4), 90L);
        broker.offsets.put(key("billing", 7), 101L);
        check(TailCheck.Policy.END).atStart();
        Map<Key, Long> expected = new HashMap<>();
        expected.put(key("billing", 3), 100L);
        expected.put(key("audit", 3), 100L);
        expected.put(key("billing", 7), 100L);
        assertEquals(expected, broker.assigned);
    }

    @Test
    void moreThanOneInAHundredQueuesIsAWrongDisk() {
        busyBroker();
        for (int q = 0; q < 3; q++) {
            broker.offsets.put(key("billing", q), 101L + q);
        }
        StartRefused e = assertThrows(StartRefused.class, () -> check(TailCheck.Policy.END).atStart());
        assertTrue(e.getMessage().startsWith("Of 200 queues with stored offsets, 3 end before one; the furthest is "
            + "orders@billing queue 2, by 3 messages."), e.getMessage());
        assertTrue(e.getMessage().contains("tidemarkLostLog=lower"), e.getMessage());
        assertEquals(Collections.emptyMap(), broker.assigned);
    }

    @Test
    void unlessToldSo() throws StartRefused {
        busyBroker();
        broker.ends.replaceAll((k, v) -> 60L);
        check(TailCheck.Policy.LOWER).atStart();
        assertEquals(200, broker.assigned.size());
        assertEquals(60L, broker.assigned.get(key("billing", 199)));
    }

    @Test
    void anEmptyStoreEndsTheStart() {
        busyBroker();
        broker.empty = true;
        broker.ends.clear();
        StartRefused e = assertThrows(StartRefused.class, () -> check(TailCheck.Policy.END).atStart());
        assertTrue(e.getMessage().startsWith("The message store is empty, but 200 offsets"), e.getMessage());
    }

    @Test
    void anEmptyStoreOfABrokerThatNobodyConsumedFromIsANewOne() throws StartRefused {
        broker.empty = true;
        broker.offsets.put(key("billing", 0), 0L);
        check(TailCheck.Policy.END).atStart();
        assertEquals(Collections.emptyMap(), broker.assigned);
    }

    @Test
    void offsetsOfTopicsThatAreGoneStay() throws StartRefused {
        busyBroker();
        broker.offsets.put(new Key("gone", "billing", 0), 5L);
        check(TailCheck.Policy.END).atStart();
        assertEquals(Collections.emptyMap(), broker.assigned);
    }

    @Test
    void aStoreWithoutMostOfTheQueuesIsAWrongDisk() {
        busyBroker();
        for (int q = 0; q < 201; q++) {
            broker.offsets.put(new Key("refunds", "billing", q), 5L);
        }
        StartRefused e = assertThrows(StartRefused.class, () -> check(TailCheck.Policy.END).atStart());
        assertTrue(e.getMessage().startsWith("The broker has only 200 of the 401 queues"), e.getMessage());
    }

    @Test
    void whatIsGoneBeginsAnewIfToldSo() throws StartRefused {
        broker.offsets.put(new Key("gone", "billing", 0), 5L);
        check(TailCheck.Policy.LOWER).atStart();
        assertEquals(Collections.singletonMap(new Key("gone", "billing", 0), 0L), broker.assigned);
    }

    @Test
    void aPromotedSlaveLowersWhateverIsBeyondItsLog() throws StartRefused {
        busyBroker();
        broker.ends.replaceAll((k, v) -> 99L);
        check(TailCheck.Policy.END).atPromotion();
        assertEquals(200, broker.assigned.size());
    }

    @Test
    void keepTouchesNothing() throws StartRefused {
        busyBroker();
        broker.ends.replaceAll((k, v) -> 0L);
        check(TailCheck.Policy.KEEP).atStart();
        check(TailCheck.Policy.KEEP).atPromotion();
        assertEquals(Collections.emptyMap(), broker.assigned);
    }

    @Test
    void anActHasAThousandKeysAtMost() throws StartRefused {
        for (int q = 0; q < 2_500; q++) {
            broker.ends.put(key("", q), 1L);
            broker.offsets.put(key("billing", q), 2L);
        }
        check(TailCheck.Policy.LOWER).atStart();
        assertEquals(2_500, broker.assigned.size());
        assertEquals(3, broker.acts);
    }

    private static final class Broker implements TailCheck.Table, TailCheck.Reset, QueueEnds, Log {
        final Map<Key, Long> offsets = new LinkedHashMap<>();
        final Map<Key, Long> ends = new HashMap<>();
        final Map<Key, Long> assigned = new HashMap<>();
        boolean empty;
        int acts;

        @Override
        public void rows(Rows rows) {
            offsets.forEach((k, v) -> rows.row(k.topic(), k.group(), k.queue(), v));
        }

        @Override
        public void assign(Map<Key, Long> targets) {
            assertTrue(targets.size() <= 1_000, targets.size() + " keys in one act");
            assigned.putAll(targets);
            acts++;
        }

        @Override
        public boolean empty() {
            return empty;
        }

        @Override
        public OptionalLong end(String topic, int queue) {
            Long end = ends.get(new Key(topic, "", queue));
            return end == null ? OptionalLong.empty() : OptionalLong.of(end);
        }

        @Override
        public void info(String line) {
        }

        @Override
        public void warn(String line) {
        }

        @Override
        public void error(String line, Throwable cause) {
        }
    }
}
