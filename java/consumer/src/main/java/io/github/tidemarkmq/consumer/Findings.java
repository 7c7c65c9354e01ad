package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a run, or a look for missed acts, found out, to be reported once no lock is held. */
final class Findings {
    /** A queue that was fenced, with the progress that it is about. */
    static final class Fenced {
        final OffsetKey key;
        final QueueProgress progress;
        final Fence fence;

        private Fenced(OffsetKey key, QueueProgress progress, Fence fence) {
            this.key = key;
            this.progress = progress;
            this.fence = fence;
        }
    }

    /** A debt that was given up. */
    static final class Lost {
        final OffsetKey key;
        final long offset;
        final String why;

        Lost(OffsetKey key, long offset, String why) {
            this.key = key;
            this.offset = offset;
            this.why = why;
        }
    }

    final List<Fenced> fences = new ArrayList<>();
    final List<Lost> lost = new ArrayList<>();
    final Map<OffsetKey, Long> persisted = new HashMap<>();
    final Map<OffsetKey, Long> unread = new HashMap<>();
    final Map<OffsetKey, TidemarkException> failures = new HashMap<>();
    /** Whether the cluster answered anything. */
    boolean answered;

    void fenced(OffsetKey key, QueueProgress p, Fence.Cause cause, KeyState state) {
        fences.add(new Fenced(key, p, new Fence(Keys.queue(key), cause, p.value(), state)));
    }

    void lost(Send s, String why) {
        lost.add(new Lost(s.key, s.progress.due(), "the queue left, and then " + why));
    }

    void persisted(Send s) {
        persisted.put(s.key, s.value);
        failures.remove(s.key);
    }

    void failed(OffsetKey key, TidemarkException e) {
        failures.put(key, e);
    }

    /** What kept offsets from being persisted, except for fences, which are reported apart; null if nothing did. */
    TidemarkException failure() {
        for (TidemarkException e : failures.values()) {
            if (e.code() != Code.FENCED) {
                return e;
            }
        }
        return null;
    }
}
