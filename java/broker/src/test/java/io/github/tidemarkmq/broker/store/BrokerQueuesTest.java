package io.github.tidemarkmq.broker.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.store.MessageStore;
import org.junit.jupiter.api.Test;

class BrokerQueuesTest {
    private final Map<String, TopicConfig> topics = new HashMap<>();
    /** The store ends each of its queues at 100: 0 to 15 of two topics. */
    private final BrokerQueues queues = new BrokerQueues(store(),
        (topic, queue) -> queue < 16 && (topic.equals("orders") || topic.equals("recent")), topics::get);

    private static MessageStore store() {
        return (MessageStore) Proxy.newProxyInstance(MessageStore.class.getClassLoader(),
            new Class<?>[] {MessageStore.class}, (proxy, method, args) -> {
                assertEquals("getMaxOffsetInQueue", method.getName());
                return 100L;
            });
    }

    @Test
    void whatTheStoreHasIsThereWhateverIsConfigured() {
        assertEquals(OptionalLong.of(100), queues.end("recent", 0), "its configuration has not been copied yet");
        topics.put("orders", new TopicConfig("orders", 8, 8));
        assertEquals(OptionalLong.of(100), queues.end("orders", 7));
        assertEquals(OptionalLong.of(100), queues.end("orders", 8), "the topic was narrowed");
    }

    @Test
    void whatIsOnlyConfiguredIsEmpty() {
        topics.put("fresh", new TopicConfig("fresh", 2, 4));
        assertEquals(OptionalLong.of(0), queues.end("fresh", 3));
        assertEquals(OptionalLong.empty(), queues.end("fresh", 4));
        assertEquals(OptionalLong.empty(), queues.end("gone", 0));
    }
}
