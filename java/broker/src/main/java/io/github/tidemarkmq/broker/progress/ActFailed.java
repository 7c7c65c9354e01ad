package io.github.tidemarkmq.broker.progress;

/** An act (remove, clone, assign) was not done, or nobody knows whether it was. Memory has not changed. */
public final class ActFailed extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean outcomeUnknown;

    /** @param sentence what is done and what is not, and what to do next */
    public ActFailed(String sentence, boolean outcomeUnknown, Throwable cause) {
        super(sentence, cause);
        this.outcomeUnknown = outcomeUnknown;
    }

    /** Whether the act may have been done, or may still be. The message says so too. Repeating it is safe. */
    public boolean outcomeUnknown() {
        return outcomeUnknown;
    }
}
