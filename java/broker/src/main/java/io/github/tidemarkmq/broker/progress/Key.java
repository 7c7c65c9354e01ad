package io.github.tidemarkmq.broker.progress;

import java.util.Objects;

/** One queue of a topic as one group consumes it, at the broker that this process is. Immutable. */
public final class Key {
    private static final String OWN_GROUPS = "CID_RMQ_SYS_";

    private final String topic;
    private final String group;
    private final int queue;

    /** A key; the names byte for byte as RocketMQ has them, retry topics and namespaces included. */
    public Key(String topic, String group, int queue) {
        this.topic = Objects.requireNonNull(topic, "topic");
        this.group = Objects.requireNonNull(group, "group");
        this.queue = queue;
    }

    public String topic() {
        return topic;
    }

    public String group() {
        return group;
    }

    public int queue() {
        return queue;
    }

    /**
     * Tells whether a group is the broker's own (RocketMQ's MixAll.CID_RMQ_SYS_PREFIX). Its offsets stay in the
     * broker's file alone: they mean nothing to another broker.
     */
    public static boolean ofBroker(String group) {
        return group.startsWith(OWN_GROUPS);
    }

    @Override
    public boolean equals(Object o) {
        if (!(o instanceof Key)) {
            return false;
        }
        Key k = (Key) o;
        return queue == k.queue && topic.equals(k.topic) && group.equals(k.group);
    }

    @Override
    public int hashCode() {
        return (topic.hashCode() * 31 + group.hashCode()) * 31 + queue;
    }

    /** As people read it in logs: topic@group queue 3. The names are data: control characters are shown as '?'. */
    @Override
    public String toString() {
        return (topic + "@" + group).replaceAll("\\p{Cntrl}", "?") + " queue " + queue;
    }
}
