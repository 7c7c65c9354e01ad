package io.github.tidemarkmq.consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.Collections;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The store as RocketMQ calls it, its threads included, over a cluster in memory and a consumer that only notes. */
class TidemarkOffsetStoreTest {
    private static final MessageQueue MQ = new MessageQueue("orders", "b1", 0);
    private static final OffsetKey KEY = Keys.key("billing", MQ);

    private final FakeCluster fake = new FakeCluster();
    private final Noted consumer = new Noted();
    private final Queue<String> dropped = new ConcurrentLinkedQueue<>();
    /** What the listener and the consumer throw; null: nothing. */
    private volatile Error thrown;
    private final TidemarkOffsetStore store = new TidemarkOffsetStore(fake.cluster(),
        StoreOptions.DEFAULT.persistInterval(10).readTimeout(200).listener(new StoreListener() {
            @Override
            public void persisted(MessageQueue queue, long offset) {
                fail();
            }

            @Override
            public void dropped(MessageQueue queue, long offset, String why) {
                dropped.add(queue.getQueueId() + " " + offset);
            }
        }), consumer);

    /** A consumer that notes what the store asks of it, and moves as a push consumer does. */
    private final class Noted implements Consumption {
        final Queue<String> calls = new ConcurrentLinkedQueue<>();
        /** What the broker has; null: it cannot be asked. */
        volatile Long atBroker = -1L;

        @Override
        public String group() {
            return "billing";
        }

        @Override
        public boolean broadcasting() {
            return false;
        }

        @Override
        public boolean has(MessageQueue mq) {
            return true;
        }

        @Override
        public boolean readsFirst() {
            return true;
        }

        @Override
        public void stop(MessageQueue mq) {
            calls.add("stop");
            fail();
        }

        @Override
        public void left(MessageQueue mq) {
            calls.add("left");
        }

        @Override
        public boolean again(MessageQueue mq, Rereading rereading) {
            calls.add("again");
            store.persist(mq);
            store.removeOffset(mq);
            return false;
        }

        @Override
        public void rebalance() {
            calls.add("rebalance");
        }

        @Override
        public long brokerOffset(MessageQueue mq, Deadline deadline) throws TidemarkException {
            Long offset = atBroker;
            if (offset == null) {
                throw new TidemarkException(Code.UNREACHABLE, "made to fail");
            }
            return offset;
        }
    }

    private void fail() {
        Error e = thrown;
        if (e != null) {
            throw e;
        }
    }

    @BeforeEach
    void load() throws MQClientException {
        store.load();
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static void until(BooleanSupplier what) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!what.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, "this did not come about in time");
            LockSupport.parkNanos(1_000_000);
        }
    }

    private long fromStore() {
        return store.readOffset(MQ, ReadOffsetType.READ_FROM_STORE);
    }

    private long fromMemory() {
        return store.readOffset(MQ, ReadOffsetType.READ_FROM_MEMORY);
    }

    @Test
    void noOffsetIsAnAnswerAndAFailureIsAnother() {
        assertEquals(-1, fromStore());
        fake.failing(Code.NO_LEADER);
        assertEquals(-2, fromStore());
        assertEquals(-2, store.readOffset(MQ, ReadOffsetType.MEMORY_FIRST_THEN_STORE));
        assertEquals(-1, fromMemory());
        assertEquals(-2, store.readOffset(null, ReadOffsetType.READ_FROM_STORE));
    }

    @Test
    void aReadThatFailedIsFollowedByARebalanceOnceItCanBeDone() {
        fake.failing(Code.UNREACHABLE);
        assertEquals(-2, fromStore());
        until(() -> !store.stats().reachable());
        assertFalse(consumer.calls.contains("rebalance"));
        fake.failing(null);
        until(() -> consumer.calls.contains("rebalance"));
        assertTrue(store.stats().reachable());
    }

    @Test
    void whatPersistReturnsFromIsStored() {
        fromStore();
        store.updateOffset(MQ, 7, true);
        store.persist(MQ);
        assertEquals(7, fake.offset(KEY));
        store.updateOffset(MQ, 9, true);
        store.persistAll(Collections.singleton(new MessageQueue("other", "b1", 3)));
        assertEquals(9, fake.offset(KEY));
        assertEquals(9, store.cloneOffsetTable("orders").get(MQ));
        assertTrue(store.cloneOffsetTable("payments").isEmpty());
    }

    @Test
    void theLoopPersistsByItself() {
        fromStore();
        store.updateOffset(MQ, 7, true);
        until(() -> fake.offset(KEY) == 7);
        until(() -> store.stats().persisted() == 1); // counted once the cluster has answered
        assertEquals(0, store.stats().unpersisted());
        assertEquals(1, store.stats().persisted());
    }

    @Test
    void anOutageLosesNothingAndHoldsNobodyUp() {
        fromStore();
        fake.failing(Code.UNREACHABLE);
        store.updateOffset(MQ, 7, true);
        until(() -> !store.stats().reachable());
        store.persist(MQ); // does not wait
        store.removeOffset(MQ);
        assertEquals(1, store.stats().unpersisted());
        assertEquals(-2, fromStore());
        fake.failing(null);
        until(() -> fake.offset(KEY) == 7);
        until(() -> fromStore() == 7);
        assertTrue(dropped.isEmpty());
    }

    @Test
    void aRefusedQueueThatLeavesIsToldAndCanBeReadAgain() {
        fromStore();
        fake.bar(Code.LIMIT, KEY::equals);
        store.updateOffset(MQ, 7, true);
        store.removeOffset(MQ);
        until(() -> dropped.contains("0 7"));
        until(() -> fromStore() == -1);
        assertEquals(0, store.stats().unpersisted());
    }

    @Test
    void anActMovesTheConsumer() {
        fake.commit(KEY, 50);
        assertEquals(50, fromStore());
        fake.reset(KEY, 20);
        until(() -> consumer.calls.contains("stop"));
        assertEquals(-1, fromMemory());
        store.updateOffset(MQ, 60, true); // what was in hand
        until(() -> consumer.calls.contains("again"));
        until(() -> store.stats().queues() == 0);
        assertEquals(20, fromStore());
        store.updateOffset(MQ, 21, true);
        store.persist(MQ);
        assertEquals(21, fake.offset(KEY));
        assertEquals(1, store.stats().fences());
    }

    @Test
    void progressThatWasNeverReadIsReadFirst() {
        fake.commit(KEY, 50);
        fromStore();
        store.removeOffset(MQ);
        store.updateOffset(MQ, 90, true);
        until(() -> consumer.calls.contains("again"));
        assertEquals(50, fake.offset(KEY));
        assertEquals(50, fromStore());
    }

    @Test
    void aQueueThatNoActTookAnOffsetFromBeginsAtItsBroker() {
        consumer.atBroker = 33L;
        assertEquals(33, fromStore());
        assertEquals(-1, fake.offset(KEY));
        store.updateOffset(MQ, 34, true);
        store.persist(MQ);
        assertEquals(34, fake.offset(KEY));
    }

    @Test
    void aBrokerThatCouldNotBeAskedIsNotAnOffset() {
        consumer.atBroker = null;
        assertEquals(-2, fromStore());
    }

    @Test
    void aRemovedOffsetIsNotLookedForAtTheBroker() {
        consumer.atBroker = 33L;
        fake.commit(KEY, 50);
        fake.remove(KEY);
        assertEquals(-1, fromStore());
    }

    @Test
    void closePersistsTheRestAndTellsWhatItCouldNot() {
        fromStore();
        store.updateOffset(MQ, 7, true);
        store.close();
        assertEquals(7, fake.offset(KEY));
        store.updateOffset(MQ, 9, true);
        assertEquals(7, fromMemory());
        store.close();
        assertTrue(dropped.isEmpty());
    }

    @Test
    void closeWithoutTheClusterTellsEachQueue() {
        fromStore();
        fake.failing(Code.UNREACHABLE);
        store.updateOffset(MQ, 7, true);
        store.close();
        assertEquals("[0 7]", dropped.toString());
    }

    @Test
    void thisVeryOffsetIsPersistedOrRefused() throws Exception {
        assertThrows(MQClientException.class, () -> store.updateConsumeOffsetToBroker(MQ, 7, false));
        fromStore();
        store.updateConsumeOffsetToBroker(MQ, 7, false);
        assertEquals(7, fake.offset(KEY));
        store.updateConsumeOffsetToBroker(MQ, 8, true);
        until(() -> fake.offset(KEY) == 8);
        fake.failing(Code.UNREACHABLE);
        MQClientException e =
            assertThrows(MQClientException.class, () -> store.updateConsumeOffsetToBroker(MQ, 9, false));
        assertEquals(Code.UNREACHABLE, ((TidemarkException) e.getCause()).code());
    }

    @Test
    void whatIsSentOneWayIsAwaitedByAReadAndToldIfItFails() throws Exception {
        fromStore();
        fake.failing(Code.UNREACHABLE);
        until(() -> !store.stats().reachable());
        fake.failing(null);
        store.updateConsumeOffsetToBroker(MQ, 7, true);
        AtomicLong read = new AtomicLong(-2); // as long as the wait is too short for a busy machine
        until(() -> read.updateAndGet(before -> fromStore()) != -2);
        assertEquals(7, read.get());
        store.updateConsumeOffsetToBroker(new MessageQueue("orders", "b1", 5), 9, true);
        until(() -> dropped.contains("5 9"));
    }

    @Test
    void whatIsThrownAtTheThreadOfTheStoreDoesNotEndIt() {
        fake.commit(KEY, 50);
        fromStore();
        thrown = new NoSuchMethodError("as with a client of another version");
        store.updateOffset(MQ, 60, true);
        until(() -> fake.offset(KEY) == 60);
        fake.reset(KEY, 20);
        until(() -> consumer.calls.contains("again")); // although it could not be stopped
        thrown = null;
        until(() -> store.stats().queues() == 0);
        fromStore();
        store.updateOffset(MQ, 21, true);
        until(() -> fake.offset(KEY) == 21);
    }

    @Test
    void aBroadcastingConsumerDoesNotStart() {
        DefaultMQPushConsumer c = new DefaultMQPushConsumer("billing");
        TidemarkOffsetStore s = TidemarkOffsetStore.install(c, fake.cluster());
        c.setMessageModel(MessageModel.BROADCASTING);
        MQClientException e = assertThrows(MQClientException.class, s::load);
        assertTrue(e.getMessage().contains("broadcasting"));
    }

    @Test
    void nothingWorksBeforeTheStart() {
        TidemarkOffsetStore s = TidemarkOffsetStore.install(new DefaultMQPushConsumer("billing"), fake.cluster());
        assertThrows(IllegalStateException.class, () -> s.persist(MQ));
        s.close();
    }

    @Test
    void optionsAreChecked() {
        assertThrows(IllegalArgumentException.class, () -> StoreOptions.DEFAULT.persistInterval(0));
        assertThrows(IllegalArgumentException.class, () -> StoreOptions.DEFAULT.persistTimeout(-1));
        assertThrows(IllegalArgumentException.class, () -> StoreOptions.DEFAULT.readTimeout(3_600_001));
    }
}
