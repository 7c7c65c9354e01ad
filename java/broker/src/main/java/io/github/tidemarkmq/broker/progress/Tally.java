package io.github.tidemarkmq.broker.progress;

import java.util.concurrent.atomic.LongAdder;

/** What is counted. Written by all threads. */
final class Tally {
    /** States of now. */
    final LongAdder keys = new LongAdder();
    final LongAdder marked = new LongAdder();
    final LongAdder inFlight = new LongAdder();
    final LongAdder lost = new LongAdder();
    final LongAdder resetsOpen = new LongAdder();
    /** Since the start. */
    final LongAdder acknowledged = new LongAdder();
    final LongAdder fenced = new LongAdder();
    final LongAdder lowered = new LongAdder();
    final LongAdder closed = new LongAdder();
    final LongAdder resetsAssigned = new LongAdder();
    final LongAdder dropped = new LongAdder();
    volatile long lastMillis;
    volatile long lastIndex;
    volatile boolean reachable;

    /** The cluster has acknowledged n values by an answer of this index. */
    void acknowledged(int n, long index) {
        acknowledged.add(n);
        lastMillis = System.currentTimeMillis();
        lastIndex = Math.max(lastIndex, index);
        reachable = true;
    }
}
