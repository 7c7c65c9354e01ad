package io.github.tidemarkmq.broker.progress;

/** The broker must not serve. The message is a sentence that says why and what to do. */
public final class StartRefused extends Exception {
    private static final long serialVersionUID = 1L;

    /** A refusal with its sentence. */
    public StartRefused(String sentence) {
        super(sentence);
    }

    /** A refusal with its sentence, and what it comes from. */
    public StartRefused(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
