package io.github.tidemarkmq.broker.version;

import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.reset.Nudge;
import io.netty.channel.Channel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.client.ConsumerGroupInfo;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * The reset of a broker 4.9, which has none on its side: RESET_CONSUMER_CLIENT_OFFSET (220), as Broker2Client sends it
 * for mqadmin, but to offsets and not to a time. Push consumers stop, wait for 10 s, and continue there; no other kind
 * listens.
 */
final class ResetRequest implements Nudge {
    private static final int RESET_CONSUMER_CLIENT_OFFSET = 220;
    private static final long SEND_MILLIS = 5_000;

    private final BrokerController controller;
    private final Log log;

    ResetRequest(BrokerController controller, Log log) {
        this.controller = controller;
        this.log = log;
    }

    /** One request for all queues of a topic that a group has: each costs the client ten seconds. */
    @Override
    public void nudge(Map<Key, Long> resets) {
        Map<Key, Map<Integer, Long>> byTopic = new HashMap<>();
        resets.forEach((key, offset) -> byTopic
            .computeIfAbsent(new Key(key.topic(), key.group(), 0), k -> new HashMap<>()).put(key.queue(), offset));
        byTopic.forEach((key, queues) -> send(key.topic(), key.group(), queues));
    }

    @Override
    public boolean carries() {
        return true;
    }

    private void send(String topic, String group, Map<Integer, Long> queues) {
        ConsumerGroupInfo consumers = controller.getConsumerManager().getConsumerGroupInfo(group);
        if (consumers == null) {
            return;
        }
        for (Channel channel : consumers.getAllChannel()) {
            try {
                controller.getRemotingServer().invokeOneway(channel, request(topic, group, queues), SEND_MILLIS);
            } catch (Exception e) {
                log.warn("Telling " + channel.remoteAddress() + " of a reset failed; it is told again: " + e);
            }
        }
    }

    private RemotingCommand request(String topic, String group, Map<Integer, Long> queues) {
        RemotingCommand request = RemotingCommand.createRequestCommand(RESET_CONSUMER_CLIENT_OFFSET, null);
        request.addExtField("topic", topic);
        request.addExtField("group", group);
        request.addExtField("timestamp", String.valueOf(System.currentTimeMillis()));
        request.addExtField("isForce", "true");
        String broker = controller.getBrokerConfig().getBrokerName();
        request.setBody(body(broker, topic, queues).getBytes(StandardCharsets.UTF_8));
        return request;
    }

    /** ResetOffsetBody in the form that clients of all ages read: fastjson's, with objects as keys. */
    static String body(String broker, String topic, Map<Integer, Long> queues) {
        return queues.entrySet().stream()
            .map(e -> "{\"brokerName\":" + quoted(broker) + ",\"queueId\":" + e.getKey() + ",\"topic\":" + quoted(topic)
                + "}:" + e.getValue())
            .collect(Collectors.joining(",", "{\"offsetTable\":{", "}}"));
    }

    private static String quoted(String name) {
        return '"' + name.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
