package io.github.tidemarkmq.client;

/**
 * What a call failed with. Unless {@link #outcomeUnknown} is true, the request is not applied and never will be
 * (of a commit that was sent more than once and fenced: not by the last send; an earlier one may have been, and an
 * act has superseded it).
 */
public class TidemarkException extends Exception {
    private static final long serialVersionUID = 1;

    private final Code code;

    /** An exception of a code; the message says what is wrong and what to do next. */
    public TidemarkException(Code code, String message) {
        this(code, message, null);
    }

    /** An exception of a code with its cause, which may be null. */
    public TidemarkException(Code code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** What kind of failure it is. */
    public final Code code() {
        return code;
    }

    /** Whether the request may be applied already, or be later. Sending the same again is safe. */
    public final boolean outcomeUnknown() {
        return code.outcomeUnknown();
    }
}
