package io.github.tidemarkmq.broker.manager;

import io.github.tidemarkmq.broker.progress.Commit;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Origin;
import io.github.tidemarkmq.broker.progress.Peers;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Refuses to lower an offset by a commit that nobody waits for: a consumer that lags behind another of its group, as
 * after a rebalance, winds nothing back. What an operator's tool lowers is two-way and goes through; so does a consumer
 * that the broker has corrected (code 21), since it was beyond the end of its queue.
 *
 * <p>Any thread.
 */
public final class Guard {
    /** How many names of corrections are remembered; the oldest is forgotten first. */
    static final int MAX_CORRECTIONS = 10_000;

    private final Peers peers;
    private final Log log;
    private final AtomicLong refused = new AtomicLong();
    /**
     * Each correction under the connection's address, and under its host where it counts as one; to each name belongs
     * the other one, or itself. Guarded by itself.
     */
    private final Map<String, String> corrected = new LinkedHashMap<String, String>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > MAX_CORRECTIONS;
        }
    };

    public Guard(Peers peers, Log log) {
        this.peers = peers;
        this.log = log;
    }

    /** A pull of this connection was beyond the end of the queue: its next commit of the key may be lower. */
    public void corrected(Key key, String client) {
        synchronized (corrected) {
            String address = of(key, client);
            String name = of(key, peers.name(client, key.group()));
            corrected.put(name, address);
            corrected.put(address, name);
        }
    }

    private static String of(Key key, String name) {
        return key + " " + name;
    }

    /** Uses up a correction. A consumer may have registered itself since, and its connection so left its host. */
    private boolean wasCorrected(Key key, String client) {
        synchronized (corrected) {
            String other = corrected.remove(of(key, client));
            if (other == null) {
                other = corrected.remove(of(key, peers.name(client, key.group())));
            }
            corrected.remove(other);
            return other != null;
        }
    }

    /** Whether a commit is refused, the table answering stored. A refusal is counted, and logged with the address. */
    boolean refuses(Commit commit, OptionalLong stored) {
        boolean unasked = commit.origin() == Origin.ONE_WAY || commit.origin() == Origin.PULL;
        if (!unasked || !stored.isPresent() || commit.offset() >= stored.getAsLong()) {
            return false;
        }
        if (wasCorrected(commit.key(), commit.client())) {
            return false;
        }
        refused.incrementAndGet();
        log.warn("Guard: " + commit.key() + " stays at " + stored.getAsLong() + "; " + commit.client()
            + " would have lowered it to " + commit.offset() + ".");
        return true;
    }

    /** Commits refused since the start. */
    public long refused() {
        return refused.get();
    }
}
