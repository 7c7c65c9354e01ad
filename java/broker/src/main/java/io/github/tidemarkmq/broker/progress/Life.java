package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.TidemarkException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Start, roles and end of {@link Progress}, and its threads: senders, the lowering, the reader, the watch, the timer of
 * two-way commits and the outbox. They all end in {@link #close}.
 */
final class Life {
    private static final int SENDERS = 2;
    private static final long DRAIN_MILLIS = 2_000;
    private static final long STOP_MILLIS = 6_000;
    private static final long RETRY_MILLIS = 5_000;

    private final Options options;
    private final Board board;
    private final Table table;
    private final Waiters waiters;
    private final Contact contact;
    private final Claims claims;
    private final Arrival arrival;
    private final Watch watch;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Runnable> work = new ArrayList<>();
    final Acts acts;
    /** The cluster has been read in this role; guarded by arriving for writing. */
    private volatile boolean arrived;
    private volatile boolean foreign;
    /** Started on the broker's own file, and the cluster has not been read since. */
    private volatile boolean alone;
    private volatile boolean closed;
    private volatile OffsetFile file;
    /** One arrival at a time, and no look of the watch meanwhile. */
    private final Object arriving = new Object();

    Life(Options options, Cluster cluster, Board board, Table table, Waiters waiters) {
        this.options = options;
        this.board = board;
        this.table = table;
        this.waiters = waiters;
        this.contact = new Contact(board.tally, board.lines);
        Walk walk = new Walk(cluster, options, board, table, contact);
        Runnable other = this::otherCluster;
        Reader reader = new Reader(cluster, options.broker, board, table, contact, other);
        Lowering lowering = new Lowering(cluster, options.broker, board, contact, other);
        this.claims = new Claims(cluster, options, board.lines);
        this.arrival = new Arrival(cluster, options, board, table, claims, walk, contact);
        this.watch = new Watch(board, table, walk, reader, options.broker);
        this.acts = new Acts(cluster, options, board, table, claims, watch);
        for (int i = 0; i < SENDERS; i++) {
            work.add(new Sender(cluster, options.broker, board, contact, lowering, other));
        }
        work.add(lowering);
        work.add(reader);
        work.add(waiters);
        work.add(board.outbox);
    }

    void start(Role role, OffsetFile from) throws StartRefused {
        file = from;
        arrival.file(from, role);
        board.update(v -> v.as(role));
        for (Runnable r : work) {
            thread(r.getClass().getSimpleName(), r);
        }
        try {
            arrive();
        } catch (TidemarkException e) {
            alone(e);
        } catch (StartRefused e) {
            close();
            throw e;
        }
        thread("Watch", this::watch);
    }

    private void thread(String name, Runnable r) {
        Thread t = new Thread(r, "tidemark-" + name);
        t.setDaemon(true);
        threads.add(t);
        t.start();
    }

    private void arrive() throws StartRefused, TidemarkException {
        synchronized (arriving) {
            if (arrived) {
                return; // a promotion was faster than the watch
            }
            Role as = board.view.role;
            arrival.arrive(Deadline.after(options.startMillis, TimeUnit.MILLISECONDS));
            if (!begin(as)) {
                return;
            }
            board.lines.info("tidemark: " + board.tally.keys.sum() + " offsets of broker \"" + options.broker
                + "\" are read from cluster " + board.view.clusterId + " at index " + board.view.followed + ", as "
                + board.view.role);
        }
    }

    /** Sends in the role in which the keys were read; false if it has changed meanwhile. */
    private synchronized boolean begin(Role as) {
        if (board.view.role != as) {
            return false;
        }
        arrived = true;
        alone = false;
        if (as == Role.MASTER || arrival.fileSettled()) {
            board.marked.go(); // else a key that this slave makes would be taken for one that its master has brought in
        }
        board.reads.go();
        return true;
    }

    /** The cluster does not answer at the start, or refuses. */
    private void alone(TidemarkException e) throws StartRefused {
        String why = "The cluster cannot be read (" + e.code() + ": " + e.getMessage() + "). ";
        boolean noFile = file.isEmpty();
        boolean unmarked = file.mark() == null && options.unmarked != Options.Unmarked.MERGE;
        if (!e.code().retriable() || !options.startAlone) {
            close();
            throw new StartRefused(why + advice(e.code()), e);
        }
        if (noFile || unmarked) {
            close();
            throw new StartRefused(why + "The broker's own file " + file.path() + (noFile ? " is empty"
                : " has no mark of Tidemark") + ", so it cannot start without the cluster either.", e);
        }
        arrival.load();
        alone = true;
        board.lines.error("tidemark: STARTED WITHOUT THE CLUSTER. " + why + "The " + file.rows().size()
            + " offsets are those of " + file.path() + ", which may be older than what consumers committed. They are"
            + " merged by maximum once the cluster is back; until then nothing is durable beyond this host, and two-way"
            + " commits are answered with code 2.", e);
    }

    private static String advice(Code code) {
        switch (code) {
            case DENIED:
                return "See to tidemarkToken (or the certificate), and that the cluster's policy gives it the right to"
                    + " this broker's name; then start again.";
            case FOREIGN_CLUSTER:
                return "See to tidemarkEndpoints and tidemarkCluster, which do not belong together; then start again.";
            case INVALID:
            case LEVEL:
                return "The nodes may be older than this jar: upgrade them, and start again.";
            default:
                return "See to it that it is up and that tidemarkEndpoints is right, and start again;"
                    + " tidemarkWithoutCluster=start would start on the broker's own file.";
        }
    }

    private void watch() {
        try {
            while (!closed) {
                rest(turn());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** One turn of the watch; returns how long to rest, in nanoseconds. */
    private long turn() {
        try {
            if (!arrived && !foreign) {
                arrive();
            }
            synchronized (arriving) {
                return arrived ? watch.look() : TimeUnit.SECONDS.toNanos(1);
            }
        } catch (TidemarkException e) {
            contact.failed(e);
            if (e.code() == Code.FOREIGN_CLUSTER) {
                otherCluster();
            }
        } catch (StartRefused e) {
            board.lines.error("tidemark: this broker sends nothing to the cluster until this is settled: "
                + e.getMessage(), e);
            return TimeUnit.MILLISECONDS.toNanos(RETRY_MILLIS);
        } catch (RuntimeException | Error e) {
            board.lines.error("tidemark: following the cluster failed, and is tried again", e);
        }
        return TimeUnit.SECONDS.toNanos(1);
    }

    private synchronized void rest(long nanos) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !closed; left = deadline - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** What answers is not the cluster whose epochs are held. */
    private void otherCluster() {
        boolean first = !foreign;
        foreign = true;
        if (first) {
            table.forEach(k -> Takeover.lost(k, board));
            board.lines.error("tidemark: another cluster than " + board.view.clusterId + " answers at tidemarkEndpoints."
                + " Nothing is sent to it. Correct the addresses, or, if the cluster was founded anew, restart this"
                + " broker: it says then what can be done", null);
        }
    }

    void promote(long epoch) throws StartRefused {
        drain(DRAIN_MILLIS, TimeUnit.MILLISECONDS);
        synchronized (arriving) {
            still();
            arrived = false; // first: nobody may see a master whose table is that of a slave
            board.update(v -> v.promoted(epoch));
            try {
                arrive();
            } catch (TidemarkException e) {
                contact.failed(e);
                board.lines.warn("tidemark: promoted, but the cluster does not answer (" + e.getMessage()
                    + "). Nothing is sent until it does and the name is claimed");
            }
        }
    }

    /** Asks the cluster only where keys are lost. */
    boolean isOvertaken() {
        View v = board.view;
        if (!arrived || v.epoch == 0 || board.tally.lost.sum() == 0) {
            return false;
        }
        try {
            return claims.isOvertaken(new Holder(options.holder.get(), v.epoch),
                Deadline.after(options.actMillis, TimeUnit.MILLISECONDS));
        } catch (TidemarkException e) {
            return false; // it is asked again
        }
    }

    void demote() {
        synchronized (this) {
            board.marked.pause();
            board.reads.pause();
            board.update(v -> v.as(Role.SLAVE));
            arrived = false;
        }
        table.forEach(k -> Takeover.demoted(k, alone, board));
        synchronized (this) {
            notifyAll();
        }
    }

    /** Nothing is sent from now on, and what was is decided. */
    private void still() {
        board.marked.pause();
        board.reads.pause();
        try {
            board.marked.idle(STOP_MILLIS, TimeUnit.MILLISECONDS, false);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A slave's master says that it has read this cluster, and so has brought in what there was. */
    void masterHasRead(String clusterId) {
        synchronized (arriving) {
            if (settles(clusterId)) {
                arrival.settle();
                board.marked.go();
            }
        }
    }

    private boolean settles(String clusterId) {
        View v = board.view;
        return arrived && v.role == Role.SLAVE && !clusterId.isEmpty() && clusterId.equals(v.clusterId);
    }

    /** What the broker's file had is in the cluster, or is not wanted. */
    boolean isSettled() {
        return arrival.fileSettled();
    }

    boolean hasArrived() {
        return arrived;
    }

    /** At a slave, and while a promoted master comes to its keys: the table may be older than the cluster. */
    boolean asksCluster() {
        return board.view.role == Role.SLAVE || !arrived && !alone && !foreign;
    }

    boolean drain(long time, TimeUnit unit) {
        try {
            long half = unit.toMillis(time) / 2 + 1; // what was read is marked then
            return board.reads.idle(half, TimeUnit.MILLISECONDS) && board.marked.idle(half, TimeUnit.MILLISECONDS, true)
                && board.outbox.flush(TimeUnit.SECONDS.toMillis(1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Under the file's monitor, so that no mark of before goes over that of an import. */
    void persist(Progress.Writing writing) throws IOException {
        synchronized (file) {
            Mark mark = mark();
            if (mark != null) {
                writing.write(mark);
            }
        }
    }

    /** Whether what POP says of a key that nobody has read gives way to the store's offset: another may have it. */
    boolean popYields() {
        return !board.view.master() || !arrived && arrival.popYields();
    }

    Mark mark() {
        View v = board.view;
        Mark before = file == null ? null : file.mark();
        if (arrival.fileSettled() && !v.clusterId.isEmpty()) {
            List<Mark.Unsent> unsent = new ArrayList<>();
            boolean popYields = popYields();
            table.forEach(k -> k.unsent(board.log.durable(), popYields, unsent::add));
            return Mark.of(v.clusterId, options.broker, v.judged, unsent);
        }
        boolean own = (alone || v.clusterId.isEmpty()) && !table.isEmpty() && (file == null || !file.isImporting());
        return own ? (before == null ? Mark.of("", options.broker, 0, new ArrayList<>()) : before).alone() : null;
    }

    /** Ends the threads, and waits for them. */
    void close() {
        closed = true;
        contact.close();
        board.marked.close();
        board.reads.close();
        synchronized (this) {
            notifyAll();
        }
        waiters.close();
        board.outbox.close();
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_MILLIS);
        for (Thread t : threads) {
            end(t, deadline);
        }
    }

    private void end(Thread t, long deadline) {
        try {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left > 0) {
                t.join(left);
            }
            if (t.isAlive()) {
                t.interrupt();
                t.join(1_000);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
