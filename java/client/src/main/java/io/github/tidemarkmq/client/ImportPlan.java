package io.github.tidemarkmq.client;

import java.util.Objects;

/** What an import brings, as its first step says it. Sent again under the same act id, it asks how far that is. */
public final class ImportPlan {
    private final boolean replace;
    private final String group;
    private final String hash;
    private final int chunks;
    private final long offsets;

    private ImportPlan(boolean replace, String group, String hash, int chunks, long offsets) {
        this.replace = replace;
        this.group = Objects.requireNonNull(group, "group");
        this.hash = Objects.requireNonNull(hash, "hash");
        this.chunks = chunks;
        this.offsets = offsets;
    }

    /**
     * An import by maximum: each key keeps the larger offset. Its last chunk ends it.
     *
     * @param hash SHA-256 of the content, 64 hexadecimal digits, so that a resumed import can tell that it is the same
     * @param chunks how many chunks there are
     * @param offsets how many offsets there are in all chunks
     */
    public static ImportPlan merge(String hash, int chunks, long offsets) {
        return new ImportPlan(false, "", hash, chunks, offsets);
    }

    /** An import that replaces a group, or all with an empty name, when it is swapped in. */
    public static ImportPlan replace(String group, String hash, int chunks, long offsets) {
        return new ImportPlan(true, group, hash, chunks, offsets);
    }

    boolean replaces() {
        return replace;
    }

    String group() {
        return group;
    }

    String hash() {
        return hash;
    }

    int chunks() {
        return chunks;
    }

    long offsets() {
        return offsets;
    }
}
