package io.github.tidemarkmq.broker.progress;

/** What this broker is to the cluster at one moment. Immutable; a change makes another. */
final class View {
    final Role role;
    /** The cluster that epochs, claim and index are of; empty until one was read. */
    final String clusterId;
    /** The index of this broker's claim; 0 for none. */
    final long claim;
    /** The index of the last read that gave all keys of the broker's name that changed before it. */
    final long followed;

    View(Role role, String clusterId, long claim, long followed) {
        this.role = role;
        this.clusterId = clusterId;
        this.claim = claim;
        this.followed = followed;
    }

    boolean master() {
        return role == Role.MASTER;
    }

    View followedTo(long index) {
        return new View(role, clusterId, claim, Math.max(followed, index));
    }

    View as(Role other) {
        return new View(other, clusterId, other == Role.SLAVE ? 0 : claim, followed);
    }

    View claimed(String cluster, long index) {
        return new View(role, cluster, index, followed);
    }
}
