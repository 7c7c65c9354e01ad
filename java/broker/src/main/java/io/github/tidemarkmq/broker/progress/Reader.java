package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Reads keys that are new here, were fenced, or are asked for at a slave: linearizable, many in one request. */
final class Reader implements Runnable {
    private static final long CALL_MILLIS = 5_000;

    private final Cluster cluster;
    private final String broker;
    private final Board board;
    private final Table table;
    private final Contact contact;
    private final Runnable foreign;
    private int failures;
    /** How many wishes of this turn have been taken over. */
    private int done;

    Reader(Cluster cluster, String broker, Board board, Table table, Contact contact, Runnable foreign) {
        this.cluster = cluster;
        this.broker = broker;
        this.board = board;
        this.table = table;
        this.contact = contact;
        this.foreign = foreign;
    }

    @Override
    public void run() {
        try {
            List<Reads.Wish> wishes = board.reads.take(Cluster.MAX_COMMITS / 10);
            while (wishes != null) {
                turn(wishes);
                if (failures > 0) {
                    contact.pause(failures);
                }
                wishes = board.reads.take(Cluster.MAX_COMMITS / 10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void turn(List<Reads.Wish> wishes) throws InterruptedException {
        done = 0;
        try {
            read(wishes);
        } catch (RuntimeException | Error e) {
            contact.stumbled("reading keys", e);
            for (int i = done + 1; i < wishes.size(); i++) {
                again(wishes.get(i));
            }
            again(wishes.get(done)); // last: it may be the one that failed, and must not keep the others waiting
        }
    }

    private void read(List<Reads.Wish> wishes) {
        List<OffsetKey> keys = new ArrayList<>(wishes.size());
        for (Reads.Wish w : wishes) {
            keys.add(OffsetKeys.of(w.key, broker));
        }
        try {
            FetchAnswer a = fetch(keys);
            failures = 0;
            for (; done < wishes.size(); done++) {
                take(wishes.get(done), a.states().get(done));
            }
        } catch (TidemarkException e) {
            failed(wishes, e);
        }
    }

    /** Reads some keys now, for callers that can wait. What was followed meanwhile is never newer than the answer. */
    FetchAnswer fetch(List<OffsetKey> keys) throws TidemarkException {
        return fetch(keys, Deadline.after(CALL_MILLIS, TimeUnit.MILLISECONDS));
    }

    FetchAnswer fetch(List<OffsetKey> keys, Deadline deadline) throws TidemarkException {
        String id = board.view.clusterId;
        FetchAnswer a = contact.call(() -> cluster.fetch(keys, ReadAt.LINEARIZABLE, deadline));
        while (a.meta().index() < board.view.followed && a.meta().clusterId().equals(id)) {
            if (deadline.passed()) {
                throw new TidemarkException(Code.NOT_READY, "the cluster answers from index " + a.meta().index()
                    + ", and has answered from " + board.view.followed + " before");
            }
            a = contact.call(() -> cluster.fetch(keys, ReadAt.LINEARIZABLE, deadline));
        }
        contact.answered();
        if (!a.meta().clusterId().equals(id)) {
            throw Contact.foreign(a.meta(), id);
        }
        return a;
    }

    private void take(Reads.Wish w, KeyState s) {
        if (!Takeover.read(w.key, s, board)) {
            table.with(w.key.key(), k -> {
                Takeover.follow(k, s, board);
                return null;
            });
        }
        if (w.waiter != null) {
            board.outbox.decide(w.waiter, Decided.Decision.DURABLE);
        }
    }

    private void failed(List<Reads.Wish> wishes, TidemarkException e) {
        failures++;
        contact.failed(e);
        if (e.code() == Code.FOREIGN_CLUSTER) {
            foreign.run();
        }
        wishes.forEach(this::again);
    }

    private void again(Reads.Wish w) {
        if (w.waiter == null || !w.waiter.isDone()) {
            board.reads.put(w.key, w.waiter);
        }
    }
}
