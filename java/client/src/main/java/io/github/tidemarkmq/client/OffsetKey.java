package io.github.tidemarkmq.client;

import java.util.Objects;

/**
 * Names one offset: a queue as one consumer group sees it. Names are data, kept byte for byte: a namespace prefix or
 * {@code %RETRY%} stays part of them. A name has at most 255 bytes of UTF-8 and no control characters.
 */
public final class OffsetKey implements Comparable<OffsetKey> {
    private final String group;
    private final String topic;
    private final String broker;
    private final int queueId;

    /**
     * A key. The broker is RocketMQ's broker name (not an address), empty where there is none; the empty name is a
     * name of its own, not a wildcard. Nothing is checked here; a request with an impossible key is refused whole.
     */
    public OffsetKey(String group, String topic, String broker, int queueId) {
        this.group = Objects.requireNonNull(group, "group");
        this.topic = Objects.requireNonNull(topic, "topic");
        this.broker = Objects.requireNonNull(broker, "broker");
        this.queueId = queueId;
    }

    /** The consumer group. */
    public String group() {
        return group;
    }

    /** The topic. */
    public String topic() {
        return topic;
    }

    /** The broker's name; may be empty. */
    public String broker() {
        return broker;
    }

    /** The number of the queue on that broker, 0 or more. */
    public int queueId() {
        return queueId;
    }

    /** Whether both keys are queues of the same group, topic and broker. */
    boolean sameTopic(OffsetKey o) {
        return group.equals(o.group) && topic.equals(o.topic) && broker.equals(o.broker);
    }

    /**
     * Orders by group, topic, broker and queue. Names go by their UTF-16 units, which the cluster's own order of
     * bytes differs from beyond the basic plane; so it is an order for local use, not that of a listing.
     */
    @Override
    public int compareTo(OffsetKey o) {
        int c = group.compareTo(o.group);
        if (c == 0) {
            c = topic.compareTo(o.topic);
        }
        if (c == 0) {
            c = broker.compareTo(o.broker);
        }
        return c == 0 ? Integer.compare(queueId, o.queueId) : c;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof OffsetKey && queueId == ((OffsetKey) o).queueId && sameTopic((OffsetKey) o);
    }

    @Override
    public int hashCode() {
        return ((group.hashCode() * 31 + topic.hashCode()) * 31 + broker.hashCode()) * 31 + queueId;
    }

    /** A form for people and logs, in which a name cannot forge a line. */
    @Override
    public String toString() {
        String names = Names.plain(group) + "/" + Names.plain(topic);
        return (broker.isEmpty() ? names : names + "/" + Names.plain(broker)) + "/" + queueId;
    }
}
