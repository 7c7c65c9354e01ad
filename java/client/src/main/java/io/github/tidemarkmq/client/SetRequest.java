package io.github.tidemarkmq.client;

import java.util.Objects;

/**
 * Lowers or raises one key on purpose: a compare-and-set on epoch, offset (or its absence) and cluster of the
 * position that it replaces. It moves the epoch of that key alone.
 */
public final class SetRequest {
    private final OffsetKey key;
    private final long offset;
    private final String clusterId;
    private final long epoch;
    private final boolean exists;
    private final long replaces;
    private final boolean operator;
    private final long claim;

    private SetRequest(OffsetKey key, long offset, String clusterId, long epoch, boolean exists, long replaces,
        boolean operator, long claim) {
        this.key = Objects.requireNonNull(key, "key");
        this.offset = offset;
        this.clusterId = Objects.requireNonNull(clusterId, "clusterId");
        this.epoch = epoch;
        this.exists = exists;
        this.replaces = replaces;
        this.operator = operator;
        this.claim = claim;
    }

    /** A consumer's own set of a key that is known to have the offset {@code replaces} under {@code epoch}. */
    public static SetRequest replacing(OffsetKey key, String clusterId, long epoch, long replaces, long offset) {
        return new SetRequest(key, offset, clusterId, epoch, true, replaces, false, 0);
    }

    /** A consumer's own set of a key that is known to have no offset under {@code epoch}. */
    public static SetRequest creating(OffsetKey key, String clusterId, long epoch, long offset) {
        return new SetRequest(key, offset, clusterId, epoch, false, 0, false, 0);
    }

    /** An operator's set of a key as it was read: the position becomes pending. */
    public static SetRequest byOperator(KeyState seen, String clusterId, long offset) {
        return new SetRequest(seen.key(), offset, clusterId, seen.position().epoch(), seen.exists(),
            seen.position().offset(), true, 0);
    }

    /** The same through a holder of a claim: refused if a newer claim is on the key. */
    public SetRequest through(long claimHeld) {
        return new SetRequest(key, offset, clusterId, epoch, exists, replaces, operator, claimHeld);
    }

    /** The key. */
    public OffsetKey key() {
        return key;
    }

    /** The offset that it shall have, 0 or more. */
    public long offset() {
        return offset;
    }

    /** The cluster that the rest was read from. */
    public String clusterId() {
        return clusterId;
    }

    /** The epoch of what is replaced: {@link KeyState#epoch}, for an operator {@link Position#epoch}. */
    public long epoch() {
        return epoch;
    }

    /** Whether the key had an offset. */
    public boolean exists() {
        return exists;
    }

    /** Which offset it had; 0 if none. */
    public long replaces() {
        return replaces;
    }

    /** Whether it is an operator's. */
    public boolean operator() {
        return operator;
    }

    /** The claim of the holder it comes through; 0 for none. */
    public long claim() {
        return claim;
    }
}
