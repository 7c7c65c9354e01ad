package io.github.tidemarkmq.broker.progress;

import java.util.Objects;
import java.util.function.Supplier;

/** How a broker keeps its offsets in the cluster. A plain holder; the fields have the defaults. */
public final class Options {
    /** What to do with a file without the mark where the cluster has keys of this broker: it ran without us. */
    public enum Unmarked {
        /** The start ends with a sentence. */
        REFUSE,
        /** The larger of the two stays, key by key. */
        MERGE,
        /** The file is not looked at. */
        IGNORE
    }

    /** The broker's name in the cluster's keys (tidemarkBroker, by default its own). Required. */
    public final String broker;
    /**
     * Who this is, for the claim: RocketMQ cluster and identity of the store. Required; at most 235 bytes. Asked at each
     * claim, since a slave may learn it late; must not block for long.
     */
    public final Supplier<String> holder;
    /** Which connections count as one. */
    public Peers peers = Peers.APART;
    /** Take the name over from a holder that is not this one. */
    public boolean takeOver;
    /** Start without the cluster if it does not answer, and merge by maximum once it does. */
    public boolean startAlone;
    /** Of a file without the mark. */
    public Unmarked unmarked = Unmarked.REFUSE;
    /** How long the start tries to reach the cluster, in milliseconds. */
    public long startMillis = 30_000;
    /** How long a two-way commit waits for the cluster, in milliseconds. Clients give up after 3 s and later. */
    public long twoWayMillis = 2_000;
    /** How long an act waits for the cluster, in milliseconds. */
    public long actMillis = 2_000;
    /** How many two-way commits may wait; one more is answered "not yet" at once. */
    public int maxWaiting = 100_000;

    /** The defaults, for a broker. */
    public Options(String broker, Supplier<String> holder) {
        this.broker = Objects.requireNonNull(broker, "broker");
        this.holder = Objects.requireNonNull(holder, "holder");
    }
}
