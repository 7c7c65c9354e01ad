package io.github.tidemarkmq.broker.store;

import java.util.List;

/** The broker's commit log and its slaves, as far as versions of RocketMQ differ. All methods: any thread. */
public interface LogView {
    /**
     * Where the last message ends, in bytes, whether it is in a mapped file or still in the transient pool
     * (transientStorePoolEnable, which {@code MessageStore.getMaxPhyOffset} leaves out). 0 before the store is loaded.
     */
    long written();

    /** Up to where the log is on the disk: {@code MappedFileQueue.getFlushedWhere}. 0 before the store is loaded. */
    long flushed();

    /** Writes to the disk what is not there yet, whatever the broker's flush interval says. Blocks for a disk write. */
    void flush();

    /** The slaves that a master knows of at this moment; empty on a slave. */
    List<Replica> replicas();

    /**
     * Whether the whole log is the group's, as far as a slave knows; of a master it says nothing. A member of a
     * controller's group may hold a tail that its master does not: not known until it has compared its log with that
     * master's, and cut it, nor before it has heard of a master. True of classic slaves.
     */
    boolean agreed();
}
