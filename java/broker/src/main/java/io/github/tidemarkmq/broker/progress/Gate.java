package io.github.tidemarkmq.broker.progress;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A key that was moved on purpose is closed: a consumer's value is believed only from a connection that has read the
 * key since, or has shown that it followed (docs/decisions/0013-slaves-of-a-broker.md). Each move is a gate of its own,
 * closed to all; opening it for one connection opens it for no other.
 */
final class Gate {
    /** Of a removed key, when anybody may create it anew, by System.nanoTime; else 0. */
    final long opensAt;
    /** Whether a connection that it is closed to has made a master assign a reset already. Guarded by the key. */
    private final Set<String> told = Collections.newSetFromMap(new ConcurrentHashMap<>());

    Gate(long opensAt) {
        this.opensAt = opensAt;
    }

    /** Tells, once for each connection, that it is to be told by a reset. At most 1,000: ghosts are not worth more. */
    boolean tell(String client) {
        return told.size() < 1_000 && told.add(client);
    }

    /** Which connections have which gates open. Bounded by the connections there are and the gates that keys have. */
    static final class Opened {
        private final Map<String, Set<Gate>> byClient = new ConcurrentHashMap<>();

        void open(Gate gate, String client) {
            byClient.computeIfAbsent(client, c -> Collections.synchronizedSet(
                Collections.newSetFromMap(new WeakHashMap<>()))).add(gate);
        }

        boolean isOpen(Gate gate, String client) {
            Set<Gate> gates = byClient.get(client);
            return gates != null && gates.contains(gate);
        }

        void forget(String client) {
            byClient.remove(client);
        }
    }
}
