package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * Looks for acts that the store's queues have missed, idle ones too: when the last act that answers name has moved, it
 * asks which queues have a newer epoch, or are in another cluster, and fences these. A queue that may not be read is
 * asked about in each run until it may, and keeps nothing of the others from being noticed. It belongs to the thread
 * that makes the runs, so that no own set is under way meanwhile.
 */
final class ActWatch {
    /** A queue that is asked about, as it was then. */
    private static final class Watched implements Parts.Item {
        final OffsetKey key;
        final QueueProgress progress;
        final long epoch;

        Watched(OffsetKey key, QueueProgress progress) {
            this.key = key;
            this.progress = progress;
            this.epoch = progress.epoch();
        }

        @Override
        public OffsetKey key() {
            return key;
        }

        /** A question may be about queues of several clusters: the answer names the one that there is. */
        @Override
        public String cluster() {
            return "";
        }

        @Override
        public Suspicion suspicion() {
            return progress.reads;
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
        List<Watched> live = live();
        if (live.isEmpty()) {
            return;
        }
        boolean heard = heard(live, since, deadline);
        into.answered |= heard;
        Questions questions = new Questions(!heard, into, deadline);
        new Parts<>(table, questions).send(heard ? concerned() : live);
        if (questions.failure != null) {
            throw questions.failure;
        }
    }

    /** The queues that an act can concern. */
    private List<Watched> live() {
        List<Watched> list = new ArrayList<>();
        synchronized (table) {
            table.queues().forEach((key, p) -> {
                if (p.live()) {
                    list.add(new Watched(key, p));
                }
            });
        }
        return list;
    }

    /**
     * Makes sure that something was heard in this run: by a linearizable read of one queue, since another one could
     * miss an act that was answered before, at a node that lags. False: that one may not be read.
     */
    private boolean heard(List<Watched> live, long since, Deadline deadline) throws TidemarkException {
        if (answers() != since) {
            return true;
        }
        Watched any = Collections.min(live, Comparator.comparingLong(w -> w.suspicion().refusal));
        if (any.suspicion().suspect()) {
            return false;
        }
        try {
            hear(cluster.fetch(Collections.singletonList(any.key), ReadAt.LINEARIZABLE, deadline).meta());
            return true;
        } catch (TidemarkException e) {
            if (Parts.refused(e)) {
                return false;
            }
            throw e;
        }
    }

    private void hear(Meta meta) {
        synchronized (table) {
            table.acts().hear(meta);
        }
    }

    /** All queues, noted as asked about, if there was an act since they were last; else those that it is open of. */
    private List<Watched> concerned() {
        synchronized (table) {
            List<Watched> list = live(); // under the monitor: what is taken over later is seen to by Acts.took
            if (table.acts().pending()) {
                table.acts().asking();
            } else {
                list.removeIf(w -> !w.suspicion().suspect());
            }
            return list;
        }
    }

    /** The questions of one look. */
    private final class Questions implements Parts.Requests<Watched> {
        private final boolean linearizable;
        private final Findings into;
        private final Deadline deadline;
        /** Why some queues could not be asked about; null: all were. */
        private TidemarkException failure;

        Questions(boolean linearizable, Findings into, Deadline deadline) {
            this.linearizable = linearizable;
            this.into = into;
            this.deadline = deadline;
        }

        @Override
        public void send(List<Watched> list) throws TidemarkException {
            List<OffsetKey> keys = new ArrayList<>(list.size());
            list.forEach(w -> keys.add(w.key));
            ReadAt at = linearizable ? ReadAt.LINEARIZABLE : ReadAt.atLeast(act());
            FetchAnswer answer = cluster.fetch(keys, at, deadline);
            into.answered = true;
            synchronized (table) {
                table.acts().hear(answer.meta());
                for (int i = 0; i < list.size(); i++) {
                    compare(list.get(i), answer.states().get(i), answer.meta());
                }
            }
        }

        private long act() {
            synchronized (table) {
                return table.acts().heard();
            }
        }

        private void compare(Watched w, KeyState state, Meta meta) {
            boolean same = table.queues().get(w.key) == w.progress && w.progress.live()
                && w.progress.epoch() == w.epoch;
            if (same && w.progress.missed(state.epoch(), meta.clusterId())) {
                w.progress.fence(Fence.Cause.MISSED_ACT);
                into.fenced(w.key, w.progress, Fence.Cause.MISSED_ACT, state);
            }
        }

        /** What was refused is asked about again by itself; else all is. */
        @Override
        public void unanswered(List<Watched> list, TidemarkException why, boolean apart) {
            failure = why;
            if (!Parts.refused(why)) {
                synchronized (table) {
                    table.acts().forget();
                }
            }
        }
    }
}
