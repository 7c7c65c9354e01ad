package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.Collections;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Runs a store: the loop that persists, looks for missed acts and moves the consumer, and the first reads of queues.
 * It owns two threads, the loop's and that of the moves, which {@link #close} waits for.
 */
final class ProgressKeeper {
    /** How long a queue that the consumer does not have yet may be in memory: between its read and its first pull. */
    private static final long BEGINNING = 60_000;

    private final Cluster cluster;
    private final Consumption consumption;
    private final StoreOptions options;
    private final Voice voice;
    private final String group;
    private final ProgressTable table = new ProgressTable();
    private final ActWatch watch;
    private final PersistLoop loop;
    private final Moves moves;
    private final AtomicLong persisted = new AtomicLong();
    private final AtomicLong fences = new AtomicLong();
    /** Whether the last attempt of the loop, or of a read, to reach the cluster came through. */
    private volatile boolean reachable = true;
    /** A queue that could not be read, and whose rebalance is to be hurried once it can; null: none. */
    private final AtomicReference<OffsetKey> refused = new AtomicReference<>();
    private volatile boolean closed;

    /** A keeper that runs; the consumer's group is settled by now. */
    ProgressKeeper(Cluster cluster, Consumption consumption, StoreOptions options, Voice voice) {
        this.cluster = cluster;
        this.consumption = consumption;
        this.options = options;
        this.voice = voice;
        this.group = consumption.group();
        this.watch = new ActWatch(table, cluster);
        this.loop = new PersistLoop("tidemark-offsets-" + group, options.persistInterval(), this::step);
        this.moves = new Moves("tidemark-moves-" + group, this::again);
        loop.start();
    }

    String group() {
        return group;
    }

    ProgressTable table() {
        return table;
    }

    StoreStats stats() {
        return table.stats(persisted.get(), fences.get(), reachable);
    }

    private Deadline persistDeadline() {
        return Deadline.after(options.persistTimeout(), TimeUnit.MILLISECONDS);
    }

    private Deadline readDeadline() {
        return Deadline.after(options.readTimeout(), TimeUnit.MILLISECONDS);
    }

    // Reading.

    /**
     * Reads a queue from the cluster, after what it has under way; the first read is what its progress starts from.
     * {@link QueueProgress#NONE}: there certainly is no offset, neither here nor, where that counts, at the broker.
     */
    long read(OffsetKey key) throws TidemarkException {
        Deadline deadline = readDeadline();
        try {
            if (table.owes(key)) {
                loop.ask();
            }
            Object read = table.beginRead(key, deadline);
            KeyState state = ask(key, read, deadline);
            long offset = state.exists() ? state.position().offset() : atBroker(state, deadline);
            voice.ended("an offset cannot be read");
            return offset;
        } catch (TidemarkException e) {
            refused.set(key);
            voice.goesOn("an offset cannot be read", e.code().toString(), Keys.queue(key) + ": " + e.getMessage());
            throw e;
        }
    }

    private KeyState ask(OffsetKey key, Object read, Deadline deadline) throws TidemarkException {
        KeyState state = null;
        Meta meta = null;
        try {
            FetchAnswer answer = cluster.fetch(Collections.singletonList(key), ReadAt.LINEARIZABLE, deadline);
            reachable = true;
            meta = answer.meta();
            state = answer.states().get(0);
            return state;
        } finally {
            long gaveWay = table.took(key, read, state, meta);
            if (gaveWay != QueueProgress.NONE) {
                voice.dropped(Keys.queue(key), gaveWay, "it came before the queue was read");
            }
        }
    }

    /** Where the broker has a queue from which no act took its offset; NONE where it has none or is not asked. */
    private long atBroker(KeyState state, Deadline deadline) throws TidemarkException {
        boolean asked = options.startAtBroker() && state.position().epoch() == 0;
        return asked ? consumption.brokerOffset(Keys.queue(state.key()), deadline) : QueueProgress.NONE;
    }

    // Persisting.

    /** Persists what changed, and waits for that; not while the cluster is known to be away. */
    void persist() {
        long ticket = loop.ask();
        if (!reachable || closed) {
            return;
        }
        try {
            loop.await(ticket, persistDeadline());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Persists this very offset. */
    void exactly(OffsetKey key, long offset, boolean oneWay) throws TidemarkException, InterruptedException {
        if (offset < 0) {
            throw new TidemarkException(Code.INVALID, "offset " + offset + " is negative");
        }
        Exact exact = new Exact(key, offset);
        if (oneWay) {
            exact.decided.whenComplete((done, why) -> decidedOneWay(exact, why));
        }
        table.exactly(exact);
        loop.ask();
        if (oneWay) {
            return;
        }
        try {
            exact.decided.get(2 * options.persistTimeout(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw (TidemarkException) e.getCause();
        } catch (TimeoutException e) {
            throw new TidemarkException(Code.OUTCOME_UNKNOWN, "no answer in time", e);
        }
    }

    /** An offset that was sent one way is decided; why it is not persisted, or null. */
    private void decidedOneWay(Exact exact, Throwable why) {
        if (why != null) {
            voice.dropped(Keys.queue(exact.key), exact.offset, "it was sent one way: " + why.getMessage());
        }
    }

    /** Takes a queue out of memory, persisted or not. */
    void remove(OffsetKey key) {
        consumption.left(Keys.queue(key));
        if (table.remove(key)) {
            loop.ask();
        }
    }

    // The loop.

    /** One run of the loop. */
    private void step() {
        try {
            long since = watch.answers();
            Deadline deadline = persistDeadline();
            Findings sent = send(deadline);
            TidemarkException blind = look(since, sent, deadline);
            if (sent.answered) {
                reachable = true;
            } else if (blind != null || sent.failure() != null) {
                reachable = false;
            }
            hurry(sent.answered, deadline);
            forget();
            moves.go();
        } catch (RuntimeException | Error e) { // without this thread nothing more would be persisted
            voice.warn("a run of persisting offsets failed; the next one tries again", e);
        }
    }

    /** Sends what changed, and reports the outcome. */
    private Findings send(Deadline deadline) {
        Run run = new Run(table, cluster, deadline);
        run.go();
        if (table.exactsWait()) {
            loop.ask();
        }
        Findings f = run.findings;
        persisted.addAndGet(f.persisted.size());
        f.persisted.forEach((key, offset) -> voice.persisted(Keys.queue(key), offset));
        f.lost.forEach(l -> voice.dropped(Keys.queue(l.key), l.offset, l.why));
        voice.goesOn("offsets are not persisted", f.failure());
        unread(f);
        fence(f);
        return f;
    }

    /** Sees to progress of queues that the consumer has and that were never read. */
    private void unread(Findings f) {
        String kind = "a queue was never read, so that its offset is not persisted; call committed(queue) before the"
            + " first seek";
        f.unread.keySet().removeIf(key -> !consumption.has(Keys.queue(key)));
        if (f.unread.isEmpty()) {
            voice.ended(kind);
        } else if (!consumption.readsFirst()) {
            voice.goesOn(kind, f.unread.keySet().toString());
        } else {
            for (OffsetKey key : f.unread.keySet()) {
                QueueProgress p = table.fenceUnread(key);
                if (p != null) {
                    f.fenced(key, p, Fence.Cause.UNREAD, null);
                }
            }
        }
    }

    /** Looks for missed acts; what it could not ask for, or null. */
    private TidemarkException look(long since, Findings sent, Deadline deadline) {
        Findings f = new Findings();
        TidemarkException failure = null;
        try {
            watch.look(since, f, deadline);
        } catch (TidemarkException e) {
            failure = e;
        }
        voice.goesOn("it is not known whether acts were missed", failure);
        sent.answered |= f.answered;
        fence(f);
        return failure;
    }

    /** Stops the queues that were fenced, and has them started again. */
    private void fence(Findings f) {
        for (Findings.Fenced one : f.fences) {
            fences.incrementAndGet();
            moves.add(one.key, one.progress); // first: the move makes up for a stop that throws
            try {
                consumption.stop(one.fence.queue());
            } catch (RuntimeException | Error e) {
                voice.warn("a consumer could not be stopped; its move tries again", e);
            }
            voice.fenced(one.fence);
        }
    }

    /** Has queues that could not be read assigned once they can, instead of up to 20 s later. */
    private void hurry(boolean answered, Deadline deadline) {
        OffsetKey key = refused.get();
        if (key == null) {
            return;
        }
        try {
            if (!answered) {
                cluster.fetch(Collections.singletonList(key), ReadAt.LINEARIZABLE, deadline);
                reachable = true;
            }
            refused.compareAndSet(key, null); // another one that came meanwhile stays
            consumption.rebalance();
        } catch (TidemarkException e) {
            reachable = false;
        }
    }

    /** Takes out queues that the consumer no longer has. */
    private void forget() {
        for (OffsetKey key : table.settledFor(BEGINNING)) {
            if (!consumption.has(Keys.queue(key))) {
                table.remove(key);
            }
        }
    }

    // Moving.

    /** Begins a fenced queue again, in the thread of the moves; whether that is done. */
    private boolean again(OffsetKey key, QueueProgress fenced) {
        MessageQueue mq = Keys.queue(key);
        try {
            if (table.fenced(key, fenced) && !consumption.again(mq, new Again(key, fenced))) {
                return false;
            }
            table.dropFenced(key, fenced);
            voice.ended("a consumer cannot be moved");
            voice.moved(mq);
            return true;
        } catch (MQClientException | TidemarkException | RuntimeException | Error e) {
            voice.goesOn("a consumer cannot be moved", e.getClass().getName(), mq + ": " + e);
            return false;
        }
    }

    /** A fenced queue that is read again on behalf of a consumer that does not do so itself. */
    private final class Again implements Consumption.Rereading {
        private final OffsetKey key;
        private final QueueProgress fenced;
        private FetchAnswer answer;

        Again(OffsetKey key, QueueProgress fenced) {
            this.key = key;
            this.fenced = fenced;
        }

        @Override
        public long read() throws TidemarkException {
            Deadline deadline = readDeadline();
            answer = cluster.fetch(Collections.singletonList(key), ReadAt.LINEARIZABLE, deadline);
            KeyState state = answer.states().get(0);
            return state.exists() ? state.position().offset() : atBroker(state, deadline);
        }

        @Override
        public void take() {
            table.retake(key, fenced, answer.states().get(0), answer.meta());
        }
    }

    /** Persists the rest, ends the threads, and reports what is not persisted. */
    void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        table.close();
        try {
            moves.close(persistDeadline());
            if (loop.close(persistDeadline())) {
                Deadline deadline = persistDeadline();
                boolean more;
                do { // what the memory says of a queue comes after its exact offsets
                    more = !send(deadline).persisted.isEmpty();
                } while (more && !deadline.passed());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        table.abandon().forEach(e -> e.failed(new TidemarkException(Code.CLOSED, "this store was closed")));
        table.unsaid().forEach((key, offset) ->
            voice.dropped(Keys.queue(key), offset, "the store was closed before the cluster had it"));
    }
}
