package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.ActHeader;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Acts whose outcome is not known: the same, asked for again within a minute, is sent with the same id, and so is done
 * once. Later it is another command: the cluster would answer what it answered then, and do nothing. Any thread.
 */
final class UnknownActs {
    private static final int MOST = 100;
    private static final long NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final class Sent {
        final ActHeader act;
        final long at;

        Sent(ActHeader act, long at) {
            this.act = act;
            this.at = at;
        }
    }

    private final LongSupplier nanos;
    private final Map<String, Sent> byCommand = new LinkedHashMap<String, Sent>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Sent> eldest) {
            return size() > MOST;
        }
    };

    /** @param nanos a clock like System.nanoTime */
    UnknownActs(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** The act that was sent for this command and never answered; null for none. */
    synchronized ActHeader get(String command) {
        Sent s = byCommand.get(command);
        return s == null || nanos.getAsLong() - s.at > NANOS ? null : s.act;
    }

    /** Notes when it was sent first. */
    synchronized void put(String command, ActHeader act) {
        Sent s = byCommand.get(command);
        if (s == null || s.act != act) {
            byCommand.put(command, new Sent(act, nanos.getAsLong()));
        }
    }

    synchronized void forget(String command) {
        byCommand.remove(command);
    }
}
