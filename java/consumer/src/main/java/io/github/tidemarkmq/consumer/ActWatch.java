package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Looks for acts that the store's queues have missed, idle ones too: when the last act that answers name has moved, it
 * asks which queues have a newer epoch, or are in another cluster, and fences these. It belongs to the thread that
 * makes the runs, so that no own set is under way meanwhile.
 */
final class ActWatch {
    /** A queue that is asked about, as it was then. */
    private static final class Watched {
        final OffsetKey key;
        final QueueProgress progress;
        final long epoch;

        Watched(OffsetKey key, QueueProgress progress) {
            this.key = key;
            this.progress = progress;
            this.epoch = progress.epoch();
        }
    }

    private final ProgressTable table;
    private final Cluster cluster;

    ActWatch(ProgressTable table, Cluster cluster) {
        this.table = table;
        this.cluster = cluster;
    }

    /** How many answers were heard so far. */
    long answers() {
        synchronized (table) {
            return table.acts().answers();
        }
    }

    /**
     * Looks once. What it fenced is in the findings, also when it throws.
     *
     * @param since {@link #answers} when this run of the loop began
     */
    void look(long since, Findings into, Deadline deadline) throws TidemarkException {
        OffsetKey any = anyLive();
        if (any == null) {
            return;
        }
        ping(any, since, into, deadline);
        List<Watched> list = concerned();
        try {
            for (int from = 0; from < list.size(); from += Run.MOST) {
                inquire(list.subList(from, Math.min(list.size(), from + Run.MOST)), into, deadline);
            }
        } catch (TidemarkException e) {
            synchronized (table) {
                table.acts().forget();
            }
            throw e;
        }
    }

    private OffsetKey anyLive() {
        synchronized (table) {
            for (Map.Entry<OffsetKey, QueueProgress> e : table.queues().entrySet()) {
                if (e.getValue().live()) {
                    return e.getKey();
                }
            }
            return null;
        }
    }

    /**
     * Makes sure that something was heard in this run: by a linearizable read, since another one could miss an act
     * that was answered before, at a node that is behind.
     */
    private void ping(OffsetKey any, long since, Findings into, Deadline deadline) throws TidemarkException {
        if (answers() == since) {
            FetchAnswer answer = cluster.fetch(Collections.singletonList(any), ReadAt.LINEARIZABLE, deadline);
            synchronized (table) {
                table.acts().hear(answer.meta());
            }
        }
        into.answered = true;
    }

    /** The queues that an act can concern, if there was one since they were asked about last; notes them as asked. */
    private List<Watched> concerned() {
        List<Watched> list = new ArrayList<>();
        synchronized (table) {
            if (table.acts().pending()) {
                table.acts().asking();
                table.queues().forEach((key, p) -> {
                    if (p.live()) {
                        list.add(new Watched(key, p));
                    }
                });
            }
        }
        return list;
    }

    private void inquire(List<Watched> list, Findings into, Deadline deadline) throws TidemarkException {
        List<OffsetKey> keys = new ArrayList<>(list.size());
        list.forEach(w -> keys.add(w.key));
        long act;
        synchronized (table) {
            act = table.acts().heard();
        }
        FetchAnswer answer = cluster.fetch(keys, ReadAt.atLeast(act), deadline);
        synchronized (table) {
            table.acts().hear(answer.meta());
            for (int i = 0; i < list.size(); i++) {
                Watched w = list.get(i);
                KeyState state = answer.states().get(i);
                boolean same = table.queues().get(w.key) == w.progress && w.progress.live()
                    && w.progress.epoch() == w.epoch;
                if (same && w.progress.missed(state.epoch(), answer.meta().clusterId())) {
                    w.progress.fence(Fence.Cause.MISSED_ACT);
                    into.fenced(w.key, w.progress, Fence.Cause.MISSED_ACT, state);
                }
            }
        }
    }
}
