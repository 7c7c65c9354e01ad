package io.github.tidemarkmq.client;

/** The end of a send that has no answer to decode: what is known of it, and where to go next. */
final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    private final Code code;
    private final boolean sent;
    private final boolean broken;
    private final String leader;
    private boolean late;

    private Failure(Code code, String message, Throwable cause, boolean sent, boolean broken, String leader) {
        super(message, cause, false, false);
        this.code = code;
        this.sent = sent;
        this.broken = broken;
        this.leader = leader;
    }

    /** Nothing left this process: there is no connection. */
    static Failure unsent(String message, Throwable cause) {
        return new Failure(Code.UNREACHABLE, message, cause, false, true, "");
    }

    /** Something was sent, and no answer came that can be read. */
    static Failure unanswered(String message, Throwable cause) {
        return new Failure(Code.OUTCOME_UNKNOWN, message, cause, true, true, "");
    }

    /** Something was sent, and the time for its answer is up. */
    static Failure late(String message, Throwable cause) {
        Failure f = unanswered(message, cause);
        f.late = true;
        return f;
    }

    /** A node answered with an error; the leader is empty where it names none. */
    static Failure answered(Code code, String message, String leader) {
        return new Failure(code, message, null, true, false, leader);
    }

    /** This client refuses, without asking a node. */
    static Failure refused(Code code, String message) {
        return new Failure(code, message, null, false, false, "");
    }

    Code code() {
        return code;
    }

    /** Whether anything may have left this process. */
    boolean sent() {
        return sent;
    }

    /** Whether this is our finding on a connection and no answer of a node. */
    boolean broken() {
        return broken;
    }

    /** Whether all that is known is that the time for an answer was up. */
    boolean late() {
        return late;
    }

    /** The leader that the answer named; empty if none. */
    String leader() {
        return leader;
    }
}
