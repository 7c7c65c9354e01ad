package io.github.tidemarkmq.broker.store;

import java.util.OptionalLong;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.common.TopicConfig;

/** The queues of a broker, of any version. */
public final class BrokerQueues implements QueueEnds {
    private final BrokerController controller;

    public BrokerQueues(BrokerController controller) {
        this.controller = controller;
    }

    @Override
    public boolean empty() {
        return controller.getMessageStore().getMaxPhyOffset() == 0;
    }

    /** Asks the topic first: the store would make a queue that it does not have. */
    @Override
    public OptionalLong end(String topic, int queue) {
        TopicConfig config = controller.getTopicConfigManager().selectTopicConfig(topic);
        if (config == null || queue >= Math.max(config.getReadQueueNums(), config.getWriteQueueNums())) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(controller.getMessageStore().getMaxOffsetInQueue(topic, queue));
        } catch (Exception e) { // a ConsumeQueueException, which 4.9 does not have
            throw new IllegalStateException("where queue " + queue + " of a topic ends cannot be told", e);
        }
    }
}
