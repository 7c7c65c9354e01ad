package io.github.tidemarkmq.broker.progress;

import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A key that was moved on purpose is closed: a consumer's value is believed only from a connection that has read the
 * key since, or has shown that it followed (docs/decisions/0013-slaves-of-a-broker.md). Each move is a gate of its own,
 * closed to all; opening it for one connection opens it for no other.
 */
final class Gate {
    /** How long a removed key can't be created again by a connection that has not read that it is gone. */
    private static final long REMOVED_NANOS = TimeUnit.SECONDS.toNanos(15);

    private final boolean removed;
    /** It is closed to POP alone. */
    private final boolean ofPop;
    /** The log position that the key's value rests on, while a reset to it is assigned; 0 for nothing. */
    long restsAt;
    private final long since = System.nanoTime();
    /** Connections that stand for themselves and that {@link #tell} was asked of. Guarded by the key; mostly none. */
    private Set<String> told;
    private volatile boolean opened;
    /** The last offset of POP that was not taken. Guarded by the key. */
    private long refusedOfPop = KeyProgress.NONE;

    private Gate(boolean removed, boolean ofPop) {
        this.removed = removed;
        this.ofPop = ofPop;
    }

    /** Of a key that was moved: it stays closed to those who do not read it. */
    static Gate moved() {
        return new Gate(false, false);
    }

    /** Of a key that was removed: after 15 s it is a new one to everybody, since nobody can be told that it is gone. */
    static Gate removed() {
        return new Gate(true, false);
    }

    /** Of a key that POP began to consume where the table had no offset, and the cluster had one. */
    static Gate ofPop() {
        return new Gate(false, true);
    }

    /** Whether it is closed to such a commit, from connections that it was not opened to: never to an operator's. */
    boolean isFor(Commit c) {
        return !c.isOperators() && (!ofPop || c.origin() == Origin.POP);
    }

    boolean isOver() {
        return removed && System.nanoTime() - since > REMOVED_NANOS;
    }

    /** Whether it is of a moved key and nobody has passed it yet. */
    boolean isUnopened() {
        return !removed && !ofPop && !opened;
    }

    /**
     * Whether a connection that it is closed to is to be told by a reset; of a removed key none is. One that stands for
     * itself is told once, and 1,000 of these at most: ghosts are not worth more. What is said over a host is each time
     * another connection's, which may have missed all resets so far: the host may have been forgotten since, or the
     * reset taken over another one.
     *
     * @param host the host that it counts as; null if it stands for itself
     */
    boolean tell(String client, String host) {
        if (removed || host != null) {
            return !removed;
        }
        told = told == null ? new HashSet<>() : told;
        return told.size() < 1_000 && told.add(client);
    }

    /**
     * Whether a commit of POP that it is closed to shows that POP has restarted at the table's offset. What POP has
     * under way never falls, and is the same again only of acks in an orderly pop: so what is below the last one that
     * was not taken, and the same again of the buffer, come from after it. The buffer continues from what was not taken
     * as long as it is not empty: all of that is delivered again.
     */
    boolean isPopsRestart(Commit c) {
        boolean same = c.offset() == refusedOfPop && c.isOfBuffer();
        boolean anew = !removed && (c.offset() < refusedOfPop || same);
        refusedOfPop = c.offset();
        return anew;
    }

    /**
     * Which connections have which gates open, and which hosts. Bounded by the connections there are and the gates that
     * keys have.
     */
    static final class Opened {
        private final Map<String, Set<Gate>> byClient = new ConcurrentHashMap<>();
        private final Peers peers;

        Opened(Peers peers) {
            this.peers = peers;
        }

        void open(Gate gate, String client, String group) {
            gate.opened = true;
            add(gate, client);
            String host = peers.host(client, group);
            if (host != null) {
                add(gate, host);
            }
        }

        private void add(Gate gate, String client) {
            byClient.computeIfAbsent(client, c -> Collections.synchronizedSet(
                Collections.newSetFromMap(new WeakHashMap<>()))).add(gate);
        }

        /** A consumer that registers itself after it has opened a gate has it open still. */
        boolean isOpen(Gate gate, String client, String group) {
            if (has(gate, client)) {
                return true;
            }
            String host = peers.host(client, group);
            return host != null && has(gate, host);
        }

        private boolean has(Gate gate, String client) {
            Set<Gate> gates = byClient.get(client);
            return gates != null && gates.contains(gate);
        }

        void forget(String client) {
            byClient.remove(client);
        }
    }
}
