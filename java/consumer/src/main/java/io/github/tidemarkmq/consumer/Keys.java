package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.OffsetKey;
import org.apache.rocketmq.common.message.MessageQueue;

/** RocketMQ's names of queues, and the cluster's. */
final class Keys {
    private Keys() {
    }

    static OffsetKey key(String group, MessageQueue mq) {
        return new OffsetKey(group, mq.getTopic(), mq.getBrokerName(), mq.getQueueId());
    }

    static MessageQueue queue(OffsetKey key) {
        return new MessageQueue(key.topic(), key.broker(), key.queueId());
    }
}
