package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Commit;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.SetRequest;

/** One queue in a run of sending, as it was when the run chose it. */
final class Send implements Parts.Item {
    final OffsetKey key;
    final QueueProgress progress;
    final boolean set;
    final long value;
    final String cluster;
    private final long epoch;
    private final long known;

    private Send(OffsetKey key, QueueProgress progress, boolean set, long value) {
        this.key = key;
        this.progress = progress;
        this.set = set;
        this.value = value;
        this.cluster = progress.cluster();
        this.epoch = progress.epoch();
        this.known = progress.known();
    }

    /** What a queue has to say next; null if nothing. The table's monitor is held. */
    static Send next(OffsetKey key, QueueProgress p) {
        QueueProgress.Step step = p.next();
        return step == QueueProgress.Step.NOTHING
            ? null : new Send(key, p, step == QueueProgress.Step.SET, p.sendable());
    }

    /** A commit of this very offset. The table's monitor is held. */
    static Send advance(OffsetKey key, QueueProgress p, long offset) {
        return new Send(key, p, false, offset);
    }

    /** A set of this very offset, or the commit in doubt that has to come before it. The table's monitor is held. */
    static Send lowering(OffsetKey key, QueueProgress p, long offset) {
        boolean sure = p.doubted() == QueueProgress.NONE;
        return new Send(key, p, sure, sure ? offset : p.doubted());
    }

    @Override
    public OffsetKey key() {
        return key;
    }

    @Override
    public String cluster() {
        return cluster;
    }

    @Override
    public Suspicion suspicion() {
        return progress.commits;
    }

    Commit commit() {
        return new Commit(key, value, epoch);
    }

    SetRequest request() {
        return known == QueueProgress.NONE
            ? SetRequest.creating(key, cluster, epoch, value)
            : SetRequest.replacing(key, cluster, epoch, known, value);
    }
}
