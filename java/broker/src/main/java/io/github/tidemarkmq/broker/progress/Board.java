package io.github.tidemarkmq.broker.progress;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** What the keys of one broker share. The queues, the outbox and the counters are leaves: a key may be locked. */
final class Board {
    /** Replaced by whoever claims, follows, promotes or demotes; read at each use. */
    volatile View view;
    final LogEnd log;
    final Marked marked;
    final Reads reads;
    final Outbox outbox;
    final Peers peers;
    final Gate.Opened opened;
    final Tally tally = new Tally();
    final Log lines;
    private final AtomicInteger loweredLines = new AtomicInteger();
    private volatile long loweredSecond;

    Board(View view, LogEnd log, Outbox outbox, Log lines) {
        this(view, log, outbox, Peers.APART, lines);
    }

    Board(View view, LogEnd log, Outbox outbox, Peers peers, Log lines) {
        this.view = view;
        this.peers = peers;
        this.opened = new Gate.Opened(peers);
        this.log = log;
        this.marked = new Marked(log);
        this.reads = new Reads();
        this.outbox = outbox;
        this.lines = lines;
    }

    /** A consumer has lowered a key: counted, and logged with its address, ten times a second at most. */
    void lowered(KeyProgress k, long from, Commit c) {
        tally.lowered.increment();
        long second = System.nanoTime() / 1_000_000_000;
        int told = loweredLines.updateAndGet(n -> loweredSecond == second ? n + 1 : 1);
        loweredSecond = second;
        if (told <= 10) {
            outbox.tell(() -> lines.warn("tidemark: " + k + " is lowered from " + from + " to " + c.offset() + " by "
                + (c.client().isEmpty() ? "this broker" : c.client()) + " (" + c.origin() + ")"));
        }
    }

    /** How things stand. The role is looked at before whether the cluster was read in it. */
    Counters counters(int waiting, BooleanSupplier read) {
        View v = view;
        Counters c = new Counters();
        c.keys = tally.keys.sum();
        c.marked = tally.marked.sum();
        c.inFlight = tally.inFlight.sum();
        c.waiting = waiting;
        c.lastAcknowledgedMillis = tally.lastMillis;
        c.lastAcknowledgedIndex = tally.lastIndex;
        c.acknowledged = tally.acknowledged.sum();
        c.fenced = tally.fenced.sum();
        c.lowered = tally.lowered.sum();
        c.closed = tally.closed.sum();
        c.lost = tally.lost.sum();
        c.resetsAssigned = tally.resetsAssigned.sum();
        c.resetsOpen = tally.resetsOpen.sum();
        c.dropped = tally.dropped.sum();
        c.clusterReachable = tally.reachable;
        c.clusterRead = read.getAsBoolean();
        c.clusterId = v.clusterId;
        c.claim = v.claim;
        c.role = v.role;
        return c;
    }

    /** Replaces the view by one made of it; the next use sees it. */
    synchronized void update(UnaryOperator<View> change) {
        view = change.apply(view);
    }
}
