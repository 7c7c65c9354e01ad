package io.github.tidemarkmq.client;

import java.security.SecureRandom;
import java.util.Objects;

/**
 * What every act carries. It is made once, before the first sending, and is the same in every resend: then the act is
 * done once, and each send gets the first answer.
 */
public final class ActHeader {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final String id;
    private final long base;
    private final String clusterId;
    private final long claim;

    /**
     * A header with a known id (32 hexadecimal digits), as one is needed to resend after a restart.
     *
     * @param base {@link Meta#index} of a read made before the first sending
     * @param clusterId {@link Meta#clusterId} of that read
     * @param claim the claim of the holder that the act comes through; 0 for none
     */
    public ActHeader(String id, long base, String clusterId, long claim) {
        this.id = Objects.requireNonNull(id, "id");
        this.base = base;
        this.clusterId = Objects.requireNonNull(clusterId, "clusterId");
        this.claim = claim;
    }

    /** A header with an id drawn now. The base is that of a read made before: what moved since is left alone. */
    public static ActHeader after(Meta read) {
        byte[] b = new byte[16];
        RANDOM.nextBytes(b);
        StringBuilder hex = new StringBuilder(32);
        for (byte x : b) {
            hex.append(Character.forDigit(x >> 4 & 15, 16)).append(Character.forDigit(x & 15, 16));
        }
        return new ActHeader(hex.toString(), read.index(), read.clusterId(), 0);
    }

    /** The same act through the holder of a claim: it is refused if a key of its scope has a newer one. */
    public ActHeader through(long claimHeld) {
        return new ActHeader(id, base, clusterId, claimHeld);
    }

    /** The same id with the base of a later read, which a swap of an import needs. */
    public ActHeader rebased(Meta read) {
        return new ActHeader(id, read.index(), read.clusterId(), claim);
    }

    /** 32 hexadecimal digits. */
    public String id() {
        return id;
    }

    /** The index of the read. */
    public long base() {
        return base;
    }

    /** The cluster of the read. */
    public String clusterId() {
        return clusterId;
    }

    /** The claim held; 0 for none. */
    public long claim() {
        return claim;
    }
}
