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
    /** How many corrections are remembered; the oldest is forgotten first. */
    static final int MAX_CORRECTIONS = 10_000;

    private final Peers peers;
    private final Log log;
    private final AtomicLong refused = new AtomicLong();
    /** Guarded by itself. */
    private final Map<String, Boolean> corrected = new LinkedHashMap<String, Boolean>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
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
            corrected.put(of(key, client), true);
        }
    }

    private String of(Key key, String client) {
        return key + " " + peers.name(client, key.group());
    }

    /** Whether a commit is refused, the table answering stored. A refusal is counted, and logged with the address. */
    boolean refuses(Commit commit, OptionalLong stored) {
        boolean unasked = commit.origin() == Origin.ONE_WAY || commit.origin() == Origin.PULL;
        if (!unasked || !stored.isPresent() || commit.offset() >= stored.getAsLong()) {
            return false;
        }
        synchronized (corrected) {
            if (corrected.remove(of(commit.key(), commit.client())) != null) {
                return false;
            }
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
