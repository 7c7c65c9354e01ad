package io.github.tidemarkmq.broker.progress;

/**
 * How far the broker's log goes and how safe it is. POP commits once its checkpoint is in the log, and a push consumer
 * after its send-back is: an offset must not be more durable than what it rests on, or a lost tail of the log skips
 * messages that nobody acknowledged.
 *
 * <p>All methods may be called from any thread, are cheap, and do not block.
 */
public interface LogEnd {
    /** Where the log ends now, in bytes; 0 before the store is open. */
    long end();

    /**
     * Up to where the log is flushed and, on a master, held by the slaves that are waited for. 0 before the store is
     * open. A position of 0 is always durable.
     */
    long durable();

    /** Something waits for this position. The store flushes soon, at once for someone who waits for an answer. */
    void want(long position, boolean soon);

    /** The callee runs, without blocking, whenever durable() has moved. Called once, at the start. */
    void onAdvance(Runnable moved);

    /** For tests and for brokers that rest nothing on their log: all is durable at once. */
    LogEnd NONE = new LogEnd() {
        @Override
        public long end() {
            return 0;
        }

        @Override
        public long durable() {
            return Long.MAX_VALUE;
        }

        @Override
        public void want(long position, boolean soon) {
        }

        @Override
        public void onAdvance(Runnable moved) {
        }
    };
}
