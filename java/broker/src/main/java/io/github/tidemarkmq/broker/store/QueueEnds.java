package io.github.tidemarkmq.broker.store;

import java.util.OptionalLong;

/** Where the queues of a store that has started end. */
public interface QueueEnds {
    /** Whether the store holds no message at all. */
    boolean empty();

    /**
     * The offset after the last message of a queue: 0 for one that is configured and holds none. Nothing if the broker
     * has no such queue, neither configured nor in its store.
     */
    OptionalLong end(String topic, int queue);
}
