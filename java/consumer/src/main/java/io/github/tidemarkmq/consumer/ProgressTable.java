package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The memory of a store: the progress of each queue, and what queues that left the consumer still owe the cluster.
 * Its monitor guards all of it, the {@link QueueProgress}es included; nothing blocks under it except for waits on it.
 *
 * <p>A queue that leaves before its offset is persisted stays as a debt: it is out of the consumer's sight, is sent
 * until it is decided, and is awaited by the read that the queue would begin again from. A commit does no harm however
 * late it comes; a lowering is a compare-and-set.
 */
final class ProgressTable {
    /** How many offsets may wait to be persisted as they are. */
    static final int MOST_EXACT = 64;

    /** The queues of the consumer. */
    private final Map<OffsetKey, QueueProgress> queues = new HashMap<>();
    /** The queues that left it and owe something. A key is never in both with something to send. */
    private final Map<OffsetKey, QueueProgress> debts = new HashMap<>();
    /** The first reads under way. What takes one off the map makes its answer take over nothing. */
    private final Map<OffsetKey, Object> reads = new HashMap<>();
    /** When the progress of a queue was taken over last, by System.nanoTime. */
    private final Map<OffsetKey, Long> readAt = new HashMap<>();
    /** The keys of the run of sending under way. */
    private final Set<OffsetKey> flying = new HashSet<>();
    /** The offsets of a key that are to be persisted as they are, and are not decided, in their order; never none. */
    private final Map<OffsetKey, Deque<Exact>> exacts = new HashMap<>();
    /** How many these are. */
    private int exactCount;
    private final Acts acts = new Acts();
    private long refusals;
    private boolean closed;

    synchronized void update(OffsetKey key, long next, boolean increaseOnly) {
        if (!closed && next >= 0) {
            queues.computeIfAbsent(key, k -> new QueueProgress()).update(next, increaseOnly);
        }
    }

    synchronized void freeze(OffsetKey key, long next) {
        if (!closed && next >= 0) {
            queues.computeIfAbsent(key, k -> new QueueProgress()).freeze(next);
        }
    }

    /** The progress in memory, or {@link QueueProgress#NONE}: there is none, or it is fenced. */
    synchronized long memory(OffsetKey key) {
        QueueProgress p = queues.get(key);
        return p == null || p.fenced() != null ? QueueProgress.NONE : p.value();
    }

    /** All progress in memory, of a topic or, with null or an empty name, of all. */
    synchronized Map<OffsetKey, Long> snapshot(String topic) {
        Map<OffsetKey, Long> all = new HashMap<>();
        queues.forEach((key, p) -> {
            boolean wanted = topic == null || topic.trim().isEmpty() || topic.equals(key.topic());
            if (wanted && p.value() != QueueProgress.NONE && p.fenced() == null) {
                all.put(key, p.value());
            }
        });
        return all;
    }

    /** Takes a queue out of the consumer's memory. Whether it stays as a debt. */
    synchronized boolean remove(OffsetKey key) {
        QueueProgress p = queues.remove(key);
        reads.remove(key);
        readAt.remove(key);
        if (p == null || !p.live() || !p.unsaid()) {
            return false;
        }
        debts.put(key, p);
        return true;
    }

    /** Whether a queue that left still owes something. */
    synchronized boolean owes(OffsetKey key) {
        return debts.containsKey(key);
    }

    /**
     * Waits until nothing of the key is under way, and begins a read of it. What it returns goes to {@link #took}; a
     * read that is not the first takes over nothing.
     *
     * @throws TidemarkException {@link Code#BUSY}: the deadline passed; {@link Code#CLOSED}
     */
    synchronized Object beginRead(OffsetKey key, Deadline deadline) throws TidemarkException {
        while (!closed && underWay(key)) {
            await(deadline);
        }
        open();
        Object read = new Object();
        QueueProgress p = queues.get(key);
        if (p == null || !p.read()) {
            reads.put(key, read);
        }
        return read;
    }

    private boolean underWay(OffsetKey key) {
        return flying.contains(key) || debts.containsKey(key) || reads.containsKey(key) || exacts.containsKey(key);
    }

    private void open() throws TidemarkException {
        if (closed) {
            throw new TidemarkException(Code.CLOSED, "this store was closed");
        }
    }

    /**
     * Takes an offset that is to be persisted as it is. Reads of its queue, and what the memory says of it later, wait
     * for it. Whether it lowers is decided here; if so, the memory is lowered at once; if not, it replaces a lowering
     * there that was not sent yet.
     *
     * @throws TidemarkException {@link Code#BUSY}: too many wait; {@link Code#CLOSED}
     */
    synchronized void exactly(Exact e) throws TidemarkException {
        open();
        if (exactCount == MOST_EXACT) {
            throw new TidemarkException(Code.BUSY, MOST_EXACT
                + " offsets wait to be persisted as they are; send it again a little later");
        }
        exactCount++;
        Deque<Exact> before = exacts.computeIfAbsent(e.key, k -> new ArrayDeque<>());
        QueueProgress p = queues.get(e.key);
        if (p != null && p.read()) {
            e.progress = p;
            e.lowers = p.lowers(e.offset) || before.stream().anyMatch(b -> b.offset > e.offset);
            if (p.live() && e.lowers) {
                p.lower(e.offset);
            } else if (p.live()) {
                p.overrule(e.offset);
            }
        }
        before.add(e);
    }

    /** Whether offsets wait to be persisted as they are. */
    synchronized boolean exactsWait() {
        return exactCount > 0;
    }

    /** Takes out all offsets that wait to be persisted as they are. */
    synchronized List<Exact> abandon() {
        List<Exact> all = new ArrayList<>();
        exacts.values().forEach(all::addAll);
        all.forEach(this::decided);
        notifyAll();
        return all;
    }

    private void await(Deadline deadline) throws TidemarkException {
        long left = deadline.remaining(TimeUnit.MILLISECONDS);
        if (left <= 0) {
            throw new TidemarkException(Code.BUSY, "what was to be persisted of the queue is not decided yet");
        }
        try {
            wait(left);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TidemarkException(Code.BUSY, "interrupted", e);
        }
    }

    /** Ends a read; a null state says that it failed. Gives the unread value that gave way, or NONE. */
    synchronized long took(OffsetKey key, Object read, KeyState state, Meta meta) {
        long before = QueueProgress.NONE;
        if (reads.get(key) == read) {
            reads.remove(key);
            if (state != null && !closed) {
                before = take(key, queues.computeIfAbsent(key, k -> new QueueProgress()), state, meta);
            }
        }
        notifyAll();
        return before;
    }

    /** Lets a fenced queue, if it is still the same, continue from another position. Whether it does. */
    synchronized boolean retake(OffsetKey key, QueueProgress fenced, KeyState state, Meta meta) {
        if (closed || queues.get(key) != fenced) {
            return false;
        }
        QueueProgress fresh = new QueueProgress();
        queues.put(key, fresh);
        take(key, fresh, state, meta);
        return true;
    }

    private long take(OffsetKey key, QueueProgress p, KeyState state, Meta meta) {
        long before = p.value();
        p.take(state.exists() ? state.position().offset() : QueueProgress.NONE, state.epoch(), meta.clusterId());
        readAt.put(key, System.nanoTime());
        acts.took(meta);
        return before;
    }

    /** Whether a queue is fenced still: neither removed nor taken over meanwhile. */
    synchronized boolean fenced(OffsetKey key, QueueProgress p) {
        return queues.get(key) == p && p.fenced() != null;
    }

    /** Fences a queue with progress that was never read, and is not being read now; null if it is not such a one. */
    synchronized QueueProgress fenceUnread(OffsetKey key) {
        QueueProgress p = queues.get(key);
        if (p == null || p.read() || p.fenced() != null || reads.containsKey(key)) {
            return null;
        }
        p.fence(Fence.Cause.UNREAD);
        return p;
    }

    /** What the cluster is not known to have, debts included; fenced queues, which were reported, are left out. */
    synchronized Map<OffsetKey, Long> unsaid() {
        Map<OffsetKey, Long> out = new HashMap<>();
        queues.forEach((key, p) -> {
            if (p.unsaid() && p.fenced() == null) {
                out.put(key, p.due());
            }
        });
        debts.forEach((key, p) -> out.put(key, p.due()));
        return out;
    }

    /** Takes a fenced queue out, if it is the same still. */
    synchronized void dropFenced(OffsetKey key, QueueProgress fenced) {
        if (queues.get(key) == fenced) {
            remove(key);
        }
    }

    /** The queues of the consumer that were not taken over within this time. */
    synchronized Set<OffsetKey> settledFor(long millis) {
        long now = System.nanoTime();
        Set<OffsetKey> out = new HashSet<>(queues.keySet());
        out.removeIf(key -> {
            Long at = readAt.get(key);
            return reads.containsKey(key) || at != null && now - at < TimeUnit.MILLISECONDS.toNanos(millis);
        });
        return out;
    }

    /** Updates are ignored and reads refused from now on. */
    synchronized void close() {
        closed = true;
        notifyAll();
    }

    /** The numbers of a moment. */
    synchronized StoreStats stats(long persisted, long fences, boolean reachable) {
        int unpersisted = debts.size();
        int fenced = 0;
        for (QueueProgress p : queues.values()) {
            unpersisted += p.unsaid() ? 1 : 0;
            fenced += p.fenced() != null ? 1 : 0;
        }
        return new StoreStats(queues.size(), unpersisted, fenced, persisted, fences, reachable);
    }

    /** The number of a refusal that came now; never 0. */
    synchronized long refusal() {
        return ++refusals;
    }

    // What follows is for Run and ActWatch, which hold the monitor.

    Map<OffsetKey, QueueProgress> queues() {
        return queues;
    }

    Map<OffsetKey, QueueProgress> debts() {
        return debts;
    }

    Set<OffsetKey> flying() {
        return flying;
    }

    Acts acts() {
        return acts;
    }

    /** The offsets whose turn it is to be persisted as they are: the first of each key. */
    List<Exact> nextExacts() {
        List<Exact> next = new ArrayList<>();
        exacts.values().forEach(waiting -> next.add(waiting.getFirst()));
        return next;
    }

    /** Whether an offset of a key, other than those, waits to be persisted as it is. */
    boolean awaitsExact(OffsetKey key, List<Exact> but) {
        Deque<Exact> waiting = exacts.get(key);
        return waiting != null && !but.containsAll(waiting);
    }

    /** An offset that was to be persisted as it is is decided; its queue may be read. */
    void decided(Exact e) {
        Deque<Exact> waiting = exacts.get(e.key);
        if (waiting != null && waiting.remove(e)) {
            exactCount--;
            if (waiting.isEmpty()) {
                exacts.remove(e.key);
            }
        }
    }

    /** Whether this progress counts still: it is in memory, or owed. */
    boolean counts(OffsetKey key, QueueProgress p) {
        return queues.get(key) == p || debts.get(key) == p;
    }
}
