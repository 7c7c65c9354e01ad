package io.github.tidemarkmq.client;

import java.util.Objects;

/** The import under way. */
public final class ImportProgress {
    private final String id;
    private final boolean replace;
    private final String group;
    private final String hash;
    private final int next;
    private final int chunks;
    private final long offsets;

    /** A progress; see the accessors. */
    public ImportProgress(String id, boolean replace, String group, String hash, int next, int chunks, long offsets) {
        this.id = Objects.requireNonNull(id, "id");
        this.replace = replace;
        this.group = Objects.requireNonNull(group, "group");
        this.hash = Objects.requireNonNull(hash, "hash");
        this.next = next;
        this.chunks = chunks;
        this.offsets = offsets;
    }

    /** The act id of all its steps, 32 hexadecimal digits. */
    public String id() {
        return id;
    }

    /** Whether it replaces; else it merges by maximum. */
    public boolean replace() {
        return replace;
    }

    /** The group that is replaced; empty for all. */
    public String group() {
        return group;
    }

    /** SHA-256 of its content, 64 hexadecimal digits. */
    public String hash() {
        return hash;
    }

    /** The chunk that is expected next. */
    public int next() {
        return next;
    }

    /** How many chunks it has. */
    public int chunks() {
        return chunks;
    }

    /** How many offsets it has. */
    public long offsets() {
        return offsets;
    }
}
