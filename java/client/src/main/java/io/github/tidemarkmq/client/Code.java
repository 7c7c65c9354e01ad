package io.github.tidemarkmq.client;

/**
 * The number of an error, as every node and client of Tidemark gives it (docs/errors.md). Numbers never change
 * their meaning.
 */
public enum Code {
    /** Done. */
    OK(0, false, false),
    /** The request breaks a bound or lacks a field. */
    INVALID(1, false, false),
    /** The caller may not do this. */
    DENIED(2, false, false),
    /** The node asked does not lead. */
    NOT_LEADER(3, true, false),
    /** The node asked is starting, catching up or stopping. */
    NOT_READY(4, true, false),
    /** A bound on what is in flight is reached; also that of this client. */
    BUSY(5, true, false),
    /** No leader became known in time. */
    NO_LEADER(6, true, false),
    /** An act, a claim or another cluster was missed: the epoch or cluster is not the key's. */
    FENCED(7, false, false),
    /** Another commit of the same atomic set was fenced. */
    NOT_APPLIED(8, false, false),
    /** A newer act, or a newer claim, is in the way. */
    SUPERSEDED(9, false, false),
    /** The base of an act is older than the acts that the cluster remembers. */
    TOO_OLD(10, false, false),
    /** What an act names does not exist. */
    NOT_FOUND(11, false, false),
    /** May be applied already, or be later; sending the same again is safe. */
    OUTCOME_UNKNOWN(12, true, true),
    /** The request, or the answer, belongs to another cluster than the one meant. */
    FOREIGN_CLUSTER(13, false, false),
    /** Another import is under way. */
    IMPORT_BUSY(14, false, false),
    /** The import named is not under way. */
    NO_IMPORT(15, false, false),
    /** A bound on what the cluster keeps is reached. */
    LIMIT(16, false, false),
    /** The cluster's format level does not have this yet. */
    LEVEL(17, false, false),
    /** The client, or the node, is closed. */
    CLOSED(18, false, false),
    /** A file or snapshot does not hold what it should. */
    DAMAGED(19, false, false),
    /** The request was never sent: no connection to any node. */
    UNREACHABLE(20, true, false);

    private static final Code[] ALL = values();

    private final int number;
    private final boolean retriable;
    private final boolean unknown;

    Code(int number, boolean retriable, boolean unknown) {
        this.number = number;
        this.retriable = retriable;
        this.unknown = unknown;
    }

    /** The number on the wire. */
    public int number() {
        return number;
    }

    /** Whether sending the same request again can help by itself. */
    public boolean retriable() {
        return retriable;
    }

    /** Whether it is unknown if the request is, or will be, applied. All other errors say that it never will be. */
    public boolean outcomeUnknown() {
        return unknown;
    }

    /** The code of a number; {@link #OUTCOME_UNKNOWN}, the careful reading, for one that this build does not know. */
    public static Code of(long number) {
        return number >= 0 && number < ALL.length ? ALL[(int) number] : OUTCOME_UNKNOWN;
    }
}
