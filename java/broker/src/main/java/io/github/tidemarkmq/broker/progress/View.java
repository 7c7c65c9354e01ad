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
    /** The same, but not beyond where keys were lost: acts that came later have been taken over for none of those. */
    final long judged;
    /** The epoch under which a controller made this broker the master; 0 for a slave, and without a controller. */
    final long epoch;

    View(Role role, String clusterId, long claim, long followed) {
        this(role, 0, clusterId, claim, followed, followed);
    }

    private View(Role role, long epoch, String clusterId, long claim, long followed, long judged) {
        this.role = role;
        this.epoch = epoch;
        this.clusterId = clusterId;
        this.claim = claim;
        this.followed = followed;
        this.judged = judged;
    }

    boolean master() {
        return role == Role.MASTER;
    }

    /** @param all whether no key is lost to another broker */
    View followedTo(long index, boolean all) {
        long to = Math.max(followed, index);
        return new View(role, epoch, clusterId, claim, to, all ? to : judged);
    }

    View as(Role other) {
        return new View(other, 0, clusterId, other == Role.SLAVE ? 0 : claim, followed, judged);
    }

    View promoted(long byEpoch) {
        return new View(Role.MASTER, byEpoch, clusterId, claim, followed, judged);
    }

    View read(String cluster, long claimed, long index) {
        return new View(role, epoch, cluster, claimed, index, index);
    }
}
