package io.github.tidemarkmq.client;

/** How fresh a read must be. */
public final class ReadAt {
    /** Never older than anything acknowledged before the request came. The default. */
    public static final ReadAt LINEARIZABLE = new ReadAt(0, 0);
    /** A committed state as the answering node has it, with its age in {@link Meta#ageMillis}. */
    public static final ReadAt LOCAL = new ReadAt(2, 0);

    private final int level;
    private final long index;

    private ReadAt(int level, long index) {
        this.level = level;
        this.index = index;
    }

    /** The answering node has applied this index: read your writes, on any node. */
    public static ReadAt atLeast(long index) {
        return new ReadAt(1, index);
    }

    int level() {
        return level;
    }

    long index() {
        return index;
    }
}
