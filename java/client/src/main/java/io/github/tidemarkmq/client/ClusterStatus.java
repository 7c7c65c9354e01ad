package io.github.tidemarkmq.client;

import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** How one node sees itself and its cluster. */
public final class ClusterStatus implements Answer {
    private final Meta meta;
    private final String nodeId;
    private final String state;
    private final int level;
    private final int maxLevel;
    private final String notReady;
    private final List<Member> members;
    private final ImportProgress running;
    private final String version;

    /** A status; see the accessors. The list is taken over, not copied. */
    public ClusterStatus(Meta meta, String nodeId, String state, int level, int maxLevel, String notReady,
        List<Member> members, ImportProgress running, String version) {
        this.meta = Objects.requireNonNull(meta, "meta");
        this.nodeId = Objects.requireNonNull(nodeId, "nodeId");
        this.state = Objects.requireNonNull(state, "state");
        this.level = level;
        this.maxLevel = maxLevel;
        this.notReady = Objects.requireNonNull(notReady, "notReady");
        this.members = Collections.unmodifiableList(members);
        this.running = running;
        this.version = Objects.requireNonNull(version, "version");
    }

    /** Index, last act and cluster, as the answering node has them; the index is no linearizable read. */
    @Override
    public Meta meta() {
        return meta;
    }

    /** The answering node, "name/member-id". */
    public String nodeId() {
        return nodeId;
    }

    /** "leader", "follower", "candidate", "shutdown" or "starting". */
    public String state() {
        return state;
    }

    /** The format level in use. */
    public int level() {
        return level;
    }

    /** The highest format level that the answering node can read. */
    public int maxLevel() {
        return maxLevel;
    }

    /** Why the node does not serve; empty if it does. */
    public String notReady() {
        return notReady;
    }

    /** The members. */
    public List<Member> members() {
        return members;
    }

    /** The import under way; null if there is none. */
    public ImportProgress running() {
        return running;
    }

    /** The version of the answering build. */
    public String version() {
        return version;
    }
}
