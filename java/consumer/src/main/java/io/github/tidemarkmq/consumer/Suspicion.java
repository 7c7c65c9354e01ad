package io.github.tidemarkmq.consumer;

/**
 * Whether requests that a queue was in were refused of late, so that it is not to hold up others. It belongs to the
 * thread that makes the runs.
 */
final class Suspicion {
    /** Numbers the last refusal, which those that were refused together share; 0: it was answered since. */
    long refusal;

    /** Whether a request that the queue was in was refused, by itself or with others, and none was answered since. */
    boolean suspect() {
        return refusal != 0;
    }
}
