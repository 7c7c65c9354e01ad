package io.github.tidemarkmq.broker.progress;

/** Where a commit comes from. */
public enum Origin {
    /** Code 15 that nobody waits for. */
    ONE_WAY,
    /** Code 15 whose sender waits for an answer: the commit's Decided is called, always, and once. */
    TWO_WAY,
    /** On the back of a pull. */
    PULL,
    /** POP and its merge buffer, inside the broker. */
    POP,
    /** Anything else inside the broker. */
    BROKER
}
