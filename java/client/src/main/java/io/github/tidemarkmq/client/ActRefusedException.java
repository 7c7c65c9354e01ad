package io.github.tidemarkmq.client;

/**
 * An act that the cluster answered with a refusal. Its code is the answer's, or {@link Code#OUTCOME_UNKNOWN} where
 * the answer to a resend leaves open whether an earlier send was done.
 */
public final class ActRefusedException extends TidemarkException {
    private static final long serialVersionUID = 1;

    private final transient ActAnswer answer;

    /** A refusal with the cluster's answer. */
    public ActRefusedException(Code code, String message, ActAnswer answer) {
        super(code, message);
        this.answer = answer;
    }

    /** The cluster's answer: its code, and the first keys that are in the way. */
    public ActAnswer answer() {
        return answer;
    }
}
