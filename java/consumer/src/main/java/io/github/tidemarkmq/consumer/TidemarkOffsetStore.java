package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Keeps the offsets of a clustering consumer in a Tidemark cluster; the broker is not touched. A store is one
 * consumer's, installed before that starts:
 *
 * <pre>{@code
 * TidemarkClient cluster = TidemarkClient.open(ClientOptions.seeds("n1:7411", "n2:7411", "n3:7411").build());
 * TidemarkOffsetStore store = TidemarkOffsetStore.install(consumer, cluster);
 * consumer.start();
 * ...
 * consumer.shutdown();
 * store.close();
 * cluster.close();
 * }</pre>
 *
 * <p>The memory takes every update at once; a thread of the store persists what changed, every second, in one request.
 * What was acknowledged is on the disks of a quorum, and is only ever lowered by an operator's act or by the consumer
 * on purpose. When an operator moves offsets, the store moves the consumer: it drops what it has of the queue and
 * begins again at what the cluster has. While the cluster is away, the consumer keeps working on the queues that it
 * has and begins no new ones: a read that failed is never a number.
 *
 * <p>The methods may be called from any thread. Those of {@link OffsetStore} are RocketMQ's to call.
 */
public final class TidemarkOffsetStore implements OffsetStore, AutoCloseable {
    /** RocketMQ's answer for "no offset": begin by ConsumeFromWhere. */
    private static final long NO_OFFSET = -1;
    /** RocketMQ's answer for "could not be asked": do not begin. */
    private static final long NOT_ASKED = -2;

    private final Cluster cluster;
    private final StoreOptions options;
    private final Consumption consumption;
    private final Voice voice;
    /** Null until {@link #load}, which RocketMQ calls first. */
    private volatile ProgressKeeper keeper;

    TidemarkOffsetStore(Cluster cluster, StoreOptions options, Consumption consumption) {
        this.cluster = Objects.requireNonNull(cluster, "cluster");
        this.options = options;
        this.consumption = consumption;
        this.voice = new Voice(options.listener());
    }

    /** Gives a push consumer that was not started a store with the default options. */
    public static TidemarkOffsetStore install(DefaultMQPushConsumer consumer, Cluster cluster) {
        return install(consumer, cluster, StoreOptions.DEFAULT);
    }

    /**
     * Gives a push consumer that was not started a store. Its start fails, with a sentence, if it is broadcasting. The
     * cluster is not contacted, stays the caller's, and is closed after the store.
     */
    @SuppressWarnings("deprecation") // there in every version, and the only way
    public static TidemarkOffsetStore install(DefaultMQPushConsumer consumer, Cluster cluster, StoreOptions options) {
        TidemarkOffsetStore store = new TidemarkOffsetStore(cluster, options, new PushConsumption(consumer));
        consumer.setOffsetStore(store);
        return store;
    }

    /** Gives a lite pull consumer that was not started a store with the default options. */
    public static TidemarkOffsetStore install(DefaultLitePullConsumer consumer, Cluster cluster) {
        return install(consumer, cluster, StoreOptions.DEFAULT);
    }

    /**
     * Gives a lite pull consumer that was not started a store, as {@link #install(DefaultMQPushConsumer, Cluster,
     * StoreOptions)} does. One that assigns its queues itself and seeks first must call {@code committed(queue)} before
     * the first seek: what was never read is not persisted.
     *
     * @throws IllegalStateException this version of RocketMQ's client is not known
     */
    public static TidemarkOffsetStore install(DefaultLitePullConsumer consumer, Cluster cluster,
        StoreOptions options) {
        TidemarkOffsetStore store = new TidemarkOffsetStore(cluster, options, new LitePullConsumption(consumer));
        consumer.setOffsetStore(store);
        return store;
    }

    /** Begins to persist. RocketMQ calls it when the consumer starts; nothing is read yet. */
    @Override
    public synchronized void load() throws MQClientException {
        if (consumption.broadcasting()) {
            throw new MQClientException("a broadcasting consumer keeps its offsets itself:"
                + " do not call TidemarkOffsetStore.install for it", null);
        }
        if (keeper == null) {
            keeper = new ProgressKeeper(cluster, consumption, options, voice);
        }
    }

    private ProgressKeeper loaded() {
        ProgressKeeper k = keeper;
        if (k == null) {
            throw new IllegalStateException("the consumer of this offset store was not started");
        }
        return k;
    }

    private OffsetKey key(MessageQueue mq) {
        return Keys.key(loaded().group(), mq);
    }

    /** Takes the next message to consume into memory. A lower one without increaseOnly is lowered on purpose. */
    @Override
    public void updateOffset(MessageQueue mq, long offset, boolean increaseOnly) {
        if (mq != null) {
            loaded().table().update(key(mq), offset, increaseOnly);
        }
    }

    /** Takes an offset into memory and ignores further ones until {@link #removeOffset}. Not there before 5.2. */
    @Override
    public void updateAndFreezeOffset(MessageQueue mq, long offset) {
        if (mq != null) {
            loaded().table().freeze(key(mq), offset);
        }
    }

    /**
     * The next message to consume; -1: there certainly is none; -2: it could not be asked. A client of 4.9 takes -2 of
     * an orderly queue's first pull for a position, which replays it, so there a read from the store that failed is an
     * exception, which all its callers handle by trying again.
     */
    @Override
    public long readOffset(MessageQueue mq, ReadOffsetType type) {
        if (mq == null || type == null) {
            return NOT_ASKED;
        }
        long inMemory = type == ReadOffsetType.READ_FROM_STORE ? QueueProgress.NONE : loaded().table().memory(key(mq));
        if (inMemory != QueueProgress.NONE) {
            return inMemory;
        }
        return type == ReadOffsetType.READ_FROM_MEMORY ? NO_OFFSET : fromStore(mq, type);
    }

    private long fromStore(MessageQueue mq, ReadOffsetType type) {
        try {
            long stored = loaded().read(key(mq));
            return stored == QueueProgress.NONE ? NO_OFFSET : stored;
        } catch (TidemarkException e) {
            if (type == ReadOffsetType.READ_FROM_STORE && !ClientVersion.KNOWS_FAILED_READS) {
                throw new IllegalStateException("the offset of " + mq + " could not be read", e);
            }
            return NOT_ASKED;
        }
    }

    /**
     * Persists what changed, and waits for that at most as long as options say; not at all while the cluster is known
     * to be away. What it cannot persist now is persisted later. Queues that are not in the set are kept: a queue is
     * forgotten once the consumer does not have it.
     */
    @Override
    public void persistAll(Set<MessageQueue> mqs) {
        if (mqs != null && !mqs.isEmpty()) {
            loaded().persist();
        }
    }

    /** Persists what changed, as {@link #persistAll}. */
    @Override
    public void persist(MessageQueue mq) {
        if (mq != null) {
            loaded().persist();
        }
    }

    /** Takes a queue out of memory. What it has not persisted yet is persisted all the same. */
    @Override
    public void removeOffset(MessageQueue mq) {
        if (mq != null) {
            loaded().remove(key(mq));
        }
    }

    /** Copies the memory: of a topic, or of all if it is null or empty. Fenced queues are left out. */
    @Override
    public Map<MessageQueue, Long> cloneOffsetTable(String topic) {
        Map<MessageQueue, Long> copy = new HashMap<>();
        loaded().table().snapshot(topic).forEach((key, offset) -> copy.put(Keys.queue(key), offset));
        return copy;
    }

    /**
     * Persists this very offset. A lower one than the cluster has at the time of the call, or is about to get from
     * earlier calls, becomes the memory's, too; any other replaces a lowering in memory that is not persisted yet. One
     * way, it returns at once; the listener is told if it is not persisted, and reads of the queue wait for it, as
     * does what the memory says of the queue later.
     *
     * @throws MQClientException it is not persisted: the queue was not read, is fenced, the cluster did not answer, or
     *     64 offsets of this kind wait
     */
    @Override
    public void updateConsumeOffsetToBroker(MessageQueue mq, long offset, boolean isOneway)
        throws MQClientException, InterruptedException {
        try {
            loaded().exactly(key(mq), offset, isOneway);
        } catch (TidemarkException e) {
            throw new MQClientException("offset " + offset + " of " + mq + " is not persisted: " + e.getMessage(), e);
        }
    }

    /** How the store is; all zero before the consumer has started. */
    public StoreStats stats() {
        ProgressKeeper k = keeper;
        return k == null ? new StoreStats(0, 0, 0, 0, 0, true) : k.stats();
    }

    /**
     * Persists the rest, for as long as the options say, and ends the store's threads. To be called once the consumer
     * is shut down, and before the cluster is closed. What is not persisted is named to the log and the listener.
     * Called again it does nothing.
     */
    @Override
    public void close() {
        ProgressKeeper k = keeper;
        if (k != null) {
            k.close();
        }
    }
}
