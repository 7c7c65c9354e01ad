package io.github.tidemarkmq.client;

import java.util.Objects;

/** Which keys an act removes. Immutable. */
public final class Scope {
    private final String group;
    private final String topic;
    private final String broker;
    private final int queueId;

    private Scope(String group, String topic, String broker, int queueId) {
        this.group = Objects.requireNonNull(group, "group");
        this.topic = Objects.requireNonNull(topic, "topic");
        this.broker = broker;
        this.queueId = queueId;
    }

    /** All keys of a group. */
    public static Scope group(String group) {
        return new Scope(group, "", null, -1);
    }

    /** The keys of one topic of a group. */
    public static Scope topic(String group, String topic) {
        return new Scope(group, topic, null, -1);
    }

    /** The keys of a topic in all groups. */
    public static Scope topicOfAllGroups(String topic) {
        return new Scope("", topic, null, -1);
    }

    /** One queue. */
    public static Scope queue(OffsetKey key) {
        return new Scope(key.group(), key.topic(), key.broker(), key.queueId());
    }

    /** The same, of one broker alone; the empty name is a name. What a RocketMQ broker removes is always its own. */
    public Scope ofBroker(String name) {
        return new Scope(group, topic, Objects.requireNonNull(name, "broker"), queueId);
    }

    String groupName() {
        return group;
    }

    String topicName() {
        return topic;
    }

    /** Null: of all brokers. */
    String brokerName() {
        return broker;
    }

    /** -1: all queues. */
    int queueId() {
        return queueId;
    }

    @Override
    public String toString() {
        String text = Names.scope(group, topic, broker);
        return queueId < 0 ? text : text + " queue " + queueId;
    }
}
