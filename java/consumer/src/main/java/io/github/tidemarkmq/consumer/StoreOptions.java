package io.github.tidemarkmq.consumer;

import java.util.Objects;

/** How a {@link TidemarkOffsetStore} behaves. Immutable; each method gives a changed copy. */
public final class StoreOptions {
    /** Persists every second, waits 3 s for reads and 5 s for what is persisted, begins at the broker's offset. */
    public static final StoreOptions DEFAULT = new StoreOptions(1000, 5000, 3000, true, new StoreListener() { });

    private final long persistInterval;
    private final long persistTimeout;
    private final long readTimeout;
    private final boolean startAtBroker;
    private final StoreListener listener;

    private StoreOptions(long persistInterval, long persistTimeout, long readTimeout, boolean startAtBroker,
        StoreListener listener) {
        this.persistInterval = positive("persistInterval", persistInterval);
        this.persistTimeout = positive("persistTimeout", persistTimeout);
        this.readTimeout = positive("readTimeout", readTimeout);
        this.startAtBroker = startAtBroker;
        this.listener = Objects.requireNonNull(listener, "listener");
    }

    private static long positive(String name, long millis) {
        if (millis <= 0 || millis > 3_600_000) {
            throw new IllegalArgumentException(name + " is " + millis + " ms; give 1 ms to an hour");
        }
        return millis;
    }

    /**
     * The pause between two runs of persisting, in milliseconds; by default 1,000. What a killed consumer did not
     * persist is delivered again, and an operator's act is noticed within it.
     */
    public StoreOptions persistInterval(long millis) {
        return new StoreOptions(millis, persistTimeout, readTimeout, startAtBroker, listener);
    }

    /** How long a run of persisting may take, and a caller waits for one, in milliseconds; by default 5,000. */
    public StoreOptions persistTimeout(long millis) {
        return new StoreOptions(persistInterval, millis, readTimeout, startAtBroker, listener);
    }

    /**
     * How long the read that a queue begins with may take before it is tried again later, in milliseconds; by default
     * 3,000. It holds for the cluster and, where that is asked, the broker together; the client's own time for a name
     * server and for a new connection may come on top.
     */
    public StoreOptions readTimeout(long millis) {
        return new StoreOptions(persistInterval, persistTimeout, millis, startAtBroker, listener);
    }

    /**
     * Where a queue begins for which the cluster has no offset, and from which no act took one: at the broker's
     * offset, if that has one (true, the default), so that a group can move over while it runs; or by the consumer's
     * {@code ConsumeFromWhere} in any case (false). A broker that cannot be asked, or answers anything but an offset or
     * that it has none, is asked again, and the queue begins only then.
     */
    public StoreOptions startAtBroker(boolean ask) {
        return new StoreOptions(persistInterval, persistTimeout, readTimeout, ask, listener);
    }

    /** What is told, along with the log; by default nothing. */
    public StoreOptions listener(StoreListener told) {
        return new StoreOptions(persistInterval, persistTimeout, readTimeout, startAtBroker, told);
    }

    long persistInterval() {
        return persistInterval;
    }

    long persistTimeout() {
        return persistTimeout;
    }

    long readTimeout() {
        return readTimeout;
    }

    boolean startAtBroker() {
        return startAtBroker;
    }

    StoreListener listener() {
        return listener;
    }
}
