package io.github.tidemarkmq.client;

/** Which keys a listing gives. Immutable; each method gives a narrower filter. */
public final class KeyFilter {
    /** All keys. */
    public static final KeyFilter ALL = new KeyFilter("", "", null, 0, false);

    private final String group;
    private final String topic;
    private final String broker;
    private final long newerThan;
    private final boolean pending;

    private KeyFilter(String group, String topic, String broker, long newerThan, boolean pending) {
        this.group = group;
        this.topic = topic;
        this.broker = broker;
        this.newerThan = newerThan;
        this.pending = pending;
    }

    /** Only keys of this group. */
    public KeyFilter group(String name) {
        return new KeyFilter(name, topic, broker, newerThan, pending);
    }

    /** Only keys of this topic. */
    public KeyFilter topic(String name) {
        return new KeyFilter(group, name, broker, newerThan, pending);
    }

    /** Only keys of this broker, which may be the empty name. */
    public KeyFilter broker(String name) {
        return new KeyFilter(group, topic, name, newerThan, pending);
    }

    /** Only keys whose index, or epoch that a commit must carry, is above this one; 0 is no filter. */
    public KeyFilter newerThan(long index) {
        return new KeyFilter(group, topic, broker, index, pending);
    }

    /** Only pending ones. */
    public KeyFilter pending() {
        return new KeyFilter(group, topic, broker, newerThan, true);
    }

    String groupName() {
        return group;
    }

    String topicName() {
        return topic;
    }

    String brokerName() {
        return broker;
    }

    long newerThanIndex() {
        return newerThan;
    }

    boolean pendingOnly() {
        return pending;
    }

    @Override
    public String toString() {
        return Names.scope(group, topic, broker);
    }
}
