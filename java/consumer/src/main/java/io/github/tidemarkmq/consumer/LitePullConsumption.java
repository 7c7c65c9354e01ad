package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.TidemarkException;
import java.lang.reflect.Field;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.MQAdminImpl;
import org.apache.rocketmq.client.impl.consumer.AssignedMessageQueue;
import org.apache.rocketmq.client.impl.consumer.DefaultLitePullConsumerImpl;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * A lite pull consumer, subscribed or assigned. It is moved by its own seek. Its parts are private in every version, so
 * they are taken by reflection, once, when the store is installed.
 *
 * <p>It reports progress from poll and commit, which hold its monitor. So does a move, from the seek to the end of the
 * fence: what it reports later is of the new position, which is why nothing needs to be awaited after a stop.
 */
final class LitePullConsumption implements Consumption {
    private final DefaultLitePullConsumer consumer;
    private final DefaultLitePullConsumerImpl impl;
    private final AssignedMessageQueue assigned;
    private final RebalanceImpl rebalanceImpl;

    LitePullConsumption(DefaultLitePullConsumer consumer) {
        this.consumer = consumer;
        this.impl = part(consumer, "defaultLitePullConsumerImpl", DefaultLitePullConsumerImpl.class);
        this.assigned = part(impl, "assignedMessageQueue", AssignedMessageQueue.class);
        this.rebalanceImpl = part(impl, "rebalanceImpl", RebalanceImpl.class);
    }

    private static <T> T part(Object of, String name, Class<T> type) {
        try {
            Field field = of.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return type.cast(field.get(of));
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new IllegalStateException("this version of RocketMQ's client keeps the parts of a lite pull consumer"
                + " elsewhere; use one from 4.9.4 to 5.5.0", e);
        }
    }

    @Override
    public String group() {
        return consumer.getConsumerGroup();
    }

    @Override
    public boolean broadcasting() {
        return ClientVersion.broadcasting(consumer);
    }

    @Override
    public boolean has(MessageQueue mq) {
        return assigned.getAssignedMessageQueues().contains(mq);
    }

    /** One that is assigned its queues may seek first. */
    @Override
    public boolean readsFirst() {
        return false;
    }

    @Override
    public void stop(MessageQueue mq) {
        // What it has in hand is dropped by the seek, under the monitor that its polls hold.
    }

    @Override
    public void left(MessageQueue mq) {
        // Its pulls report no progress; its polls do, of queues that it has.
    }

    @Override
    public boolean again(MessageQueue mq, Rereading rereading) throws MQClientException, TidemarkException {
        if (!has(mq)) {
            return true;
        }
        long stored = rereading.read();
        MQAdminImpl ends = client().getMQAdminImpl();
        long wanted = stored >= 0 ? stored : begin(mq, ends);
        // Beyond an end it continues at that end, as a push consumer does.
        long next = Math.max(ends.minOffset(mq), Math.min(ends.maxOffset(mq), wanted));
        synchronized (impl) {
            impl.seek(mq, next);
            assigned.updateConsumeOffset(mq, next);
            rereading.take();
        }
        return true;
    }

    /** Where it would begin without an offset (RebalanceLitePullImpl.computePullFromWhereWithException). */
    private long begin(MessageQueue mq, MQAdminImpl ends) throws MQClientException {
        switch (consumer.getConsumeFromWhere()) {
            case CONSUME_FROM_FIRST_OFFSET:
                return 0;
            case CONSUME_FROM_TIMESTAMP:
                return ends.searchOffset(mq,
                    UtilAll.parseDate(consumer.getConsumeTimestamp(), UtilAll.YYYYMMDDHHMMSS).getTime());
            default:
                return ends.maxOffset(mq);
        }
    }

    private MQClientInstance client() {
        return rebalanceImpl.getmQClientFactory();
    }

    @Override
    public void rebalance() {
        client().rebalanceImmediately();
    }

    @Override
    public long brokerOffset(MessageQueue mq, Deadline deadline) throws TidemarkException {
        return BrokerOffsets.ask(client(), group(), mq, deadline);
    }
}
