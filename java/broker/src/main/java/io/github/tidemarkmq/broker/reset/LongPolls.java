package io.github.tidemarkmq.broker.reset;

import io.github.tidemarkmq.broker.progress.Key;
import java.util.Map;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.common.KeyBuilder;

/**
 * Wakes the pulls and pops that a broker 5.x holds, so that an idle consumer takes its reset at once and not up to 20 s
 * later. Consumers of other groups on the queue are woken with them, find nothing, and ask again.
 */
public final class LongPolls implements Nudge {
    /** Queue id of a pop that takes whatever queue has something. */
    private static final int ANY_QUEUE = -1;

    private final BrokerController controller;

    public LongPolls(BrokerController controller) {
        this.controller = controller;
    }

    @Override
    public void nudge(Map<Key, Long> resets) {
        resets.keySet().forEach(this::wake);
    }

    private void wake(Key key) {
        controller.getPullRequestHoldService().notifyMessageArriving(key.topic(), key.queue(), Long.MAX_VALUE);
        // Pops of a retry topic wait under the name of the topic itself.
        String topic = KeyBuilder.isPopRetryTopicV2(key.topic()) ? KeyBuilder.parseNormalTopic(key.topic()) : key.topic();
        controller.getPopMessageProcessor().notifyMessageArriving(topic, key.queue(), key.group());
        controller.getPopMessageProcessor().notifyMessageArriving(topic, ANY_QUEUE, key.group());
    }

    @Override
    public boolean carries() {
        return false;
    }
}
