package io.github.tidemarkmq.client;

import java.util.Objects;

/** A key and what there is to say of it. "No offset" is {@link #exists} false, never an offset of -1 or 0. */
public final class KeyState {
    private final OffsetKey key;
    private final boolean exists;
    private final Position position;
    private final long epoch;
    private final long claim;

    /** A state; see the accessors. */
    public KeyState(OffsetKey key, boolean exists, Position position, long epoch, long claim) {
        this.key = Objects.requireNonNull(key, "key");
        this.exists = exists;
        this.position = Objects.requireNonNull(position, "position");
        this.epoch = epoch;
        this.claim = claim;
    }

    /** The key. */
    public OffsetKey key() {
        return key;
    }

    /** Whether the key has an offset. */
    public boolean exists() {
        return exists;
    }

    /** What is stored. Of a key that does not exist only the epoch is set: the floor of its scopes. Never null. */
    public Position position() {
        return position;
    }

    /** What a commit, or a consumer's set, must carry now: the highest of the key's own epoch and the claims on it. */
    public long epoch() {
        return epoch;
    }

    /** The index of the newest claim on the key; 0 if there is none. */
    public long claim() {
        return claim;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof KeyState)) {
            return false;
        }
        KeyState o = (KeyState) other;
        return exists == o.exists && epoch == o.epoch && claim == o.claim && key.equals(o.key)
            && position.equals(o.position);
    }

    @Override
    public int hashCode() {
        return key.hashCode() * 31 + position.hashCode();
    }

    @Override
    public String toString() {
        return key + ": " + (exists ? position.toString() : "no offset") + ", to be committed with epoch " + epoch;
    }
}
