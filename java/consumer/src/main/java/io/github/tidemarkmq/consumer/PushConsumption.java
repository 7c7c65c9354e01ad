package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.TidemarkException;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * A push consumer, concurrent or orderly. It is moved by its own cure for queues whose pulls have stopped
 * (RebalanceImpl.updateProcessQueueTableInRebalance, isPullExpired): the process queue is dropped, so that no result of
 * it counts, and marked as not pulled for long; a rebalance then removes it, of an orderly one once its listener has
 * returned, and adds the queue again, which begins with a read. All of that happens in the one thread of rebalances, so
 * that nothing comes between the removal and the read.
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

    @Override
    public boolean readsFirst() {
        return true;
    }

    @Override
    public void left(MessageQueue mq) {
        ProcessQueue pq = processQueue(mq);
        if (pq != null && pq.isDropped()) {
            seal(pq);
        }
    }

    /**
     * Ends what the last pull of a dropped queue does when it comes back empty, up to 30 s late: it would report its
     * own next offset as progress, dropped or not, which undoes a reset of a queue that was read again meanwhile. It
     * does so only for a queue that holds no message (DefaultMQPushConsumerImpl.correctTagsOffset); this one holds many
     * from now on. No message of a dropped queue is consumed, so nothing else looks at the number.
     */
    private static void seal(ProcessQueue pq) {
        pq.getMsgCount().set(Long.MAX_VALUE / 2);
    }

    /** As MQClientInstance.resetOffset does. Cleared, an orderly queue is not unlocked late, under its successor. */
    @Override
    public void stop(MessageQueue mq) {
        ProcessQueue pq = processQueue(mq);
        if (pq != null) {
            pq.setDropped(true);
            pq.clear();
            seal(pq);
        }
    }

    @Override
    public boolean again(MessageQueue mq, Rereading rereading) {
        ProcessQueue pq = processQueue(mq);
        if (pq == null) {
            return true;
        }
        if (pq.isDropped()) {
            pq.setLastPullTimestamp(0);
            rebalance();
        } else {
            stop(mq);
        }
        return false;
    }

    private MQClientInstance client() {
        return impl().getmQClientFactory();
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
