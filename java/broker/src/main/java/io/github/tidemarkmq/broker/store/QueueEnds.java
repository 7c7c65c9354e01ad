package io.github.tidemarkmq.broker.store;

import java.util.OptionalLong;

/** Where the queues of a store that has started end. */
public interface QueueEnds {
    /** Whether the store holds no message at all. */
    boolean empty();

    /** The offset behind the last message of a queue; nothing if the broker has no such queue. */
    OptionalLong end(String topic, int queue);
}
