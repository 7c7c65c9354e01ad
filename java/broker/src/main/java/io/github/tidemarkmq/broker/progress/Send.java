package io.github.tidemarkmq.broker.progress;

/** One value on its way to the cluster. Immutable. */
final class Send {
    final KeyProgress key;
    /** What the key had under way when this was planned; another by now: nobody asks for the answer. */
    final Traffic traffic;
    final long offset;
    final long epoch;
    /** A Set compares what it replaces: an offset, or {@link KeyProgress#NONE}. */
    final boolean set;
    final long replaces;
    /** The same was sent before, and nobody knows what came of it. */
    final boolean again;

    Send(KeyProgress key, Traffic traffic, long offset, long epoch, boolean set, long replaces) {
        this.key = key;
        this.traffic = traffic;
        this.offset = offset;
        this.epoch = epoch;
        this.set = set;
        this.replaces = replaces;
        this.again = traffic.unknown;
    }
}
