package io.github.tidemarkmq.consumer;

import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;

/** What differs between the versions of RocketMQ's client that the consumer may run in. */
final class ClientVersion {
    /**
     * Whether -2 is understood wherever an offset is read: since 5.0.0, which is when this exception came with it
     * (RebalancePushImpl.computePullFromWhereWithException throws; before, it gave -1 to an orderly queue's pull).
     */
    static final boolean KNOWS_FAILED_READS = there("org.apache.rocketmq.client.exception.OffsetNotFoundException");

    private ClientVersion() {
    }

    private static boolean there(String name) {
        try {
            Class.forName(name, false, ClientVersion.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** The name of a queue's broker. In 5.x a queue of a static topic names no broker; 4.9 has no such topics. */
    static String brokerOf(MQClientInstance client, MessageQueue mq) {
        return KNOWS_FAILED_READS ? client.getBrokerNameFromMessageQueue(mq) : mq.getBrokerName();
    }

    /** Whether a consumer is broadcasting. The class of its message model has another package in 5.x than in 4.9. */
    static boolean broadcasting(Object consumer) {
        try {
            Object model = consumer.getClass().getMethod("getMessageModel").invoke(consumer);
            return "BROADCASTING".equals(String.valueOf(model));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this version of RocketMQ's client is not known;"
                + " use one from 4.9.4 to 5.5.0", e);
        }
    }
}
