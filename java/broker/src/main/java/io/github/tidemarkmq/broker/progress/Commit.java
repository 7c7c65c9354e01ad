package io.github.tidemarkmq.broker.progress;

import java.util.Objects;

/** What a consumer says: the next message that it will consume. Immutable. */
public final class Commit {
    /** The client of POP's restart at a reset, and so the connection that all commits of POP count as. */
    public static final String POP = "ResetPopOffset";
    /** The client of what POP's merge buffer commits. */
    static final String POP_BUFFER = "PopBufferMergeService";

    private final Key key;
    private final long offset;
    private final Origin origin;
    private final String client;
    private final long position;
    private final Decided decided;
    private final boolean operators;

    private Commit(Key key, long offset, Origin origin, String client, long position, Decided decided,
        boolean operators) {
        this.key = Objects.requireNonNull(key, "key");
        this.offset = offset;
        this.origin = Objects.requireNonNull(origin, "origin");
        this.client = client == null ? "" : client;
        this.position = position;
        this.decided = decided;
        this.operators = operators;
    }

    /**
     * A commit nobody waits for.
     *
     * @param offset   0 or more; a negative one is no offset, and {@link Progress#commit} does not take it
     * @param client   address of who sent it, for the log; empty for the broker itself
     * @param position where the log ended when the commit came: what the offset rests on ({@link LogEnd#end}); 0 for
     *                 nothing
     */
    public static Commit of(Key key, long offset, Origin origin, String client, long position) {
        if (origin == Origin.TWO_WAY) {
            throw new IllegalArgumentException("a two-way commit says who waits for it");
        }
        return new Commit(key, offset, origin, client, position, null, false);
    }

    /** A two-way commit of a consumer: decided is called once, with what became of it. */
    public static Commit twoWay(Key key, long offset, String client, long position, Decided decided) {
        return new Commit(key, offset, Origin.TWO_WAY, client, position, Objects.requireNonNull(decided, "decided"),
            false);
    }

    /** A two-way commit of an operator's tool, which rests on no progress of its own: no move closes a key to it. */
    public static Commit operators(Key key, long offset, String client, long position, Decided decided) {
        return new Commit(key, offset, Origin.TWO_WAY, client, position, Objects.requireNonNull(decided, "decided"),
            true);
    }

    public Key key() {
        return key;
    }

    public long offset() {
        return offset;
    }

    public Origin origin() {
        return origin;
    }

    public String client() {
        return client;
    }

    /** The connection that is to have read a key that was moved: POP, which is in the broker, is one. */
    String connection() {
        return origin == Origin.POP ? POP : client;
    }

    /** Whether it is POP's merge buffer that says it: of each batch once, in their order. */
    boolean isOfBuffer() {
        return origin == Origin.POP && client.equals(POP_BUFFER);
    }

    /** Whether an operator says it, and no consumer. */
    public boolean isOperators() {
        return operators;
    }

    public long position() {
        return position;
    }

    /** Who waits for it; null for all but two-way commits. */
    Decided decided() {
        return decided;
    }
}
