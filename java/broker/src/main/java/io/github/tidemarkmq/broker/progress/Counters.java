package io.github.tidemarkmq.broker.progress;

/** The state of {@link Progress} at one moment, for mqadmin brokerStatus and the log. */
public final class Counters {
    /** Keys in memory. */
    public long keys;
    /** Keys with a value that the cluster has not acknowledged, those in flight included. */
    public long marked;
    /** Keys that a request to the cluster holds. */
    public long inFlight;
    /** Two-way commits that wait for their answer. */
    public long waiting;
    /** When the cluster last acknowledged anything, Unix milliseconds by this host's clock; 0 for never. */
    public long lastAcknowledgedMillis;
    /** The index of that answer. */
    public long lastAcknowledgedIndex;
    /** Commits acknowledged since the start: values sent, not commits taken. */
    public long acknowledged;
    /** Commits that the cluster refused as fenced, since the start. */
    public long fenced;
    /** Commits that lowered an offset, since the start. */
    public long lowered;
    /** Commits not taken since their key was moved and their connection has not read it, since the start. */
    public long closed;
    /** Keys that a newer claim, or another cluster, has taken away: a state of now. */
    public long lost;
    /** Resets assigned since the start. */
    public long resetsAssigned;
    /** Keys whose reset is assigned and not yet followed: a state of now. */
    public long resetsOpen;
    /** Values given up, since the cluster cannot hold them, since the start. */
    public long dropped;
    /** Whether the last call to the cluster was answered. */
    public boolean clusterReachable;
    /** Whether the start has read the cluster: false only after a start without it, until it is back. */
    public boolean clusterRead;
    /** The cluster's id, 32 hexadecimal digits; empty until it is known. */
    public String clusterId = "";
    /** Index of this broker's claim; 0 for none. */
    public long claim;
    public Role role = Role.MASTER;
}
