package io.github.tidemarkmq.broker.progress;

import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * What {@link Progress} writes into the broker's own file, as one further field of the JSON object: that the file
 * belongs to a broker whose offsets are in a cluster, and which of its values the cluster does not have yet. A plain
 * broker ignores the field when it reads the file and drops it with its next write, so a file without it says that
 * the broker ran without us in between. Immutable.
 */
public final class Mark {
    /** The name of the field. */
    public static final String FIELD = "tidemark";

    /** A value that the cluster had not acknowledged when the file was written. */
    static final class Unsent {
        final Key key;
        /** The value. */
        final long offset;
        /** The epoch under which it was to be sent. */
        final long epoch;
        /** The offset that the cluster last told of the key; -1 for none. */
        final long acked;
        /** Where the log ended when the value was committed. */
        final long position;

        Unsent(Key key, long offset, long epoch, long acked, long position) {
            this.key = key;
            this.offset = offset;
            this.epoch = epoch;
            this.acked = acked;
            this.position = position;
        }
    }

    /** 32 hexadecimal digits. */
    final String clusterId;
    final String broker;
    /** The cluster's index that the broker had seen. */
    final long index;
    /** The broker's claim; 0 for none. */
    final long claim;
    final List<Unsent> unsent;

    Mark(String clusterId, String broker, long index, long claim, List<Unsent> unsent) {
        this.clusterId = Objects.requireNonNull(clusterId, "clusterId");
        this.broker = Objects.requireNonNull(broker, "broker");
        this.index = index;
        this.claim = claim;
        this.unsent = Collections.unmodifiableList(unsent);
    }

    /** The field's value, standard JSON, to be written behind {@code "tidemark":}. */
    public String json() {
        throw new UnsupportedOperationException("not there yet");
    }
}
