package io.github.tidemarkmq.broker.store;

import java.util.OptionalLong;
import java.util.function.Function;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.store.MessageStore;

/**
 * The queues of a broker, of any version. A queue is there if the store has it, whatever is configured: a slave copies
 * the configuration of topics a while after their messages, and takes the old one away first; and a topic that was
 * narrowed keeps its queues. Where the store has none, the configuration distinguishes an empty queue from one that is
 * gone.
 */
public final class BrokerQueues implements QueueEnds {
    /** The queues in a store. */
    public interface Stored {
        /** Whether it has a queue, by a look that makes none. */
        boolean has(String topic, int queue);
    }

    private final MessageStore store;
    private final Stored stored;
    private final Function<String, TopicConfig> topics;

    /** @param topics the configuration of a topic; null where there is none */
    public BrokerQueues(MessageStore store, Stored stored, Function<String, TopicConfig> topics) {
        this.store = store;
        this.stored = stored;
        this.topics = topics;
    }

    @Override
    public boolean empty() {
        return store.getMaxPhyOffset() == 0;
    }

    @Override
    public OptionalLong end(String topic, int queue) {
        if (!stored.has(topic, queue)) {
            TopicConfig config = topics.apply(topic);
            boolean empty = config != null && queue < Math.max(config.getReadQueueNums(), config.getWriteQueueNums());
            return empty ? OptionalLong.of(0) : OptionalLong.empty();
        }
        try {
            return OptionalLong.of(store.getMaxOffsetInQueue(topic, queue));
        } catch (Exception e) { // a ConsumeQueueException, which 4.9 does not have
            throw new IllegalStateException("where queue " + queue + " of a topic ends cannot be told", e);
        }
    }
}
