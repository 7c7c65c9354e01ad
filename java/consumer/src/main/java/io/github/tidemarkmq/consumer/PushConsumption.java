package io.github.tidemarkmq.consumer;

import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore;
import org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * A push consumer, concurrent or orderly. It is moved by what it does itself when the broker calls its pull offset
 * illegal (DefaultMQPushConsumerImpl.pullMessage, OFFSET_ILLEGAL): the process queue is dropped, so that no result of
 * it counts, and removed, and the next rebalance adds the queue again, which begins with a read.
 */
final class PushConsumption implements Consumption {
    private final DefaultMQPushConsumer consumer;

    PushConsumption(DefaultMQPushConsumer consumer) {
        this.consumer = consumer;
    }

    @SuppressWarnings("deprecation") // the only way in, and there in every version
    private DefaultMQPushConsumerImpl impl() {
        return consumer.getDefaultMQPushConsumerImpl();
    }

    private ProcessQueue processQueue(MessageQueue mq) {
        return impl().getRebalanceImpl().getProcessQueueTable().get(mq);
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
        return processQueue(mq) != null;
    }

    /** As MQClientInstance.resetOffset does. Cleared, an orderly queue is not unlocked late, under its successor. */
    @Override
    public void stop(MessageQueue mq) {
        ProcessQueue pq = processQueue(mq);
        if (pq != null) {
            pq.setDropped(true);
            pq.clear();
        }
    }

    @Override
    public boolean again(MessageQueue mq, Rereading rereading) {
        ProcessQueue pq = processQueue(mq);
        if (pq != null && !pq.isDropped()) {
            stop(mq);
            return false;
        }
        impl().getRebalanceImpl().removeProcessQueue(mq);
        rebalance();
        return true;
    }

    private MQClientInstance client() {
        return impl().getmQClientFactory();
    }

    @Override
    public void rebalance() {
        client().rebalanceImmediately();
    }

    @Override
    public long brokerOffset(MessageQueue mq) {
        return new RemoteBrokerOffsetStore(client(), group()).readOffset(mq, ReadOffsetType.READ_FROM_STORE);
    }
}
