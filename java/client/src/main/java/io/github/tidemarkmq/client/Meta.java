package io.github.tidemarkmq.client;

import java.util.Objects;

/** What comes with every answer. */
public final class Meta {
    private final String clusterId;
    private final long index;
    private final long lastAct;
    private final String leader;
    private final long ageMillis;

    /** A meta; see the accessors. */
    public Meta(String clusterId, long index, long lastAct, String leader, long ageMillis) {
        this.clusterId = Objects.requireNonNull(clusterId, "clusterId");
        this.index = index;
        this.lastAct = lastAct;
        this.leader = Objects.requireNonNull(leader, "leader");
        this.ageMillis = ageMillis;
    }

    /** The answering cluster, 32 hexadecimal digits. Epochs and bases are worth nothing in another. */
    public String clusterId() {
        return clusterId;
    }

    /** The raft index of the last command that the answering state holds. */
    public long index() {
        return index;
    }

    /** The index of the last act of any kind. When it has moved, ask which keys are concerned. */
    public long lastAct() {
        return lastAct;
    }

    /** The API address of the leader; empty if none is known. The client goes there by itself. */
    public String leader() {
        return leader;
    }

    /** Milliseconds since the answering node last heard from a leader; 0 on the leader. */
    public long ageMillis() {
        return ageMillis;
    }

    @Override
    public String toString() {
        return "cluster " + clusterId + ", index " + index + ", last act " + lastAct;
    }
}
