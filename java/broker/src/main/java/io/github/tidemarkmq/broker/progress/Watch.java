package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Follows the keys of the broker's name: what changed since the last look, once a second, and after an act of anybody
 * also which keys are gone, which no listing of changes shows. It takes a tenth of the time at most: a look that took
 * long is followed by a long rest.
 */
final class Watch {
    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PRUNE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int REST = 10;
    private static final int BATCH = Cluster.MAX_COMMITS / 10;

    private final Board board;
    private final Table table;
    private final Walk walk;
    private final Reader reader;
    private final String broker;
    /** The last act up to which it is known which keys are gone. */
    private long sweptTo = -1;
    private long nextSweep = System.nanoTime();
    private long nextPrune = System.nanoTime();

    Watch(Board board, Table table, Walk walk, Reader reader, String broker) {
        this.board = board;
        this.table = table;
        this.walk = walk;
        this.reader = reader;
        this.broker = broker;
    }

    /**
     * One look.
     *
     * @return how long to rest, in nanoseconds
     */
    long look() throws TidemarkException {
        long begun = System.nanoTime();
        Meta m = walk.over(board.view.followed, (k, s) -> Takeover.follow(k, s, board));
        board.update(v -> v.followedTo(m.index(), board.tally.lost.sum() == 0));
        if (m.lastAct() != sweptTo && System.nanoTime() - nextSweep >= 0) {
            sweep();
        }
        if (System.nanoTime() - nextPrune >= 0) {
            prune();
            nextPrune = System.nanoTime() + PRUNE_NANOS;
        }
        return Math.max(PERIOD_NANOS, REST * (System.nanoTime() - begun));
    }

    /** Reads the keys that a walk over all did not meet, and takes over that they are gone. */
    private void sweep() throws TidemarkException {
        long begun = System.nanoTime();
        Meta m = walk.over(0, (k, s) -> Takeover.follow(k, s, board));
        List<KeyProgress> keys = new ArrayList<>();
        for (KeyProgress k : walk.notMet()) {
            if (k.isHeld()) {
                keys.add(k);
            }
        }
        follow(keys);
        sweptTo = m.lastAct();
        nextSweep = System.nanoTime() + Math.max(PERIOD_NANOS, REST * (System.nanoTime() - begun));
    }

    /** Reads these keys, a thousand at a time, and takes over what the cluster says. */
    void follow(List<KeyProgress> keys) throws TidemarkException {
        for (int from = 0; from < keys.size(); from += BATCH) {
            List<KeyProgress> some = keys.subList(from, Math.min(keys.size(), from + BATCH));
            List<OffsetKey> names = new ArrayList<>(some.size());
            for (KeyProgress k : some) {
                names.add(OffsetKeys.of(k, broker));
            }
            FetchAnswer a = reader.fetch(names);
            for (int i = 0; i < some.size(); i++) {
                Takeover.follow(some.get(i), a.states().get(i), board);
            }
        }
    }

    /** Removed keys leave the table after their time. */
    private void prune() {
        List<KeyProgress> dead = new ArrayList<>();
        table.forEach(k -> {
            if (k.bury()) {
                dead.add(k);
            }
        });
        dead.forEach(table::remove);
    }
}
