package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Commit;
import io.github.tidemarkmq.client.CommitAnswer;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Brings the newest value of each marked key to the cluster, as long as there are any: what is marked while one request
 * is under way is the next. Several may run; a key is in one request at most. Sets go to {@link Lowering}.
 */
final class Sender implements Runnable {
    /** Kept below the cluster's 512 KiB of an entry. */
    private static final int MAX_BYTES = 400 * 1024;
    private static final int BYTES_A_COMMIT = 24;
    /** For how many keys a turn halves its requests: where all are refused, that many small ones are enough. */
    static final int MOST_BLAMED = 8;
    private static final long CALL_MILLIS = 5_000;
    private static final Comparator<Send> BY_NAMES =
        Comparator.<Send>comparingInt(s -> s.key.of.number).thenComparingInt(s -> s.key.queue);

    private final Cluster cluster;
    private final String broker;
    private final Board board;
    private final Contact contact;
    private final Lowering lowering;
    private final Runnable foreign;
    private int failures;
    /** Keys that requests were halved for in this turn. */
    private int blamed;

    Sender(Cluster cluster, String broker, Board board, Contact contact, Lowering lowering, Runnable foreign) {
        this.cluster = cluster;
        this.broker = broker;
        this.board = board;
        this.contact = contact;
        this.lowering = lowering;
        this.foreign = foreign;
    }

    @Override
    public void run() {
        try {
            List<KeyProgress> keys = board.marked.take(Cluster.MAX_COMMITS);
            while (keys != null) {
                turn(keys);
                if (failures > 0) {
                    contact.pause(failures);
                }
                keys = board.marked.take(Cluster.MAX_COMMITS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void turn(List<KeyProgress> keys) throws InterruptedException {
        List<Send> planned = new ArrayList<>(keys.size());
        try {
            send(keys, planned);
        } catch (RuntimeException | Error e) {
            contact.stumbled("sending offsets", e);
            planned.forEach(s -> s.key.unknown(s, board)); // what was decided stays so
            keys.forEach(k -> k.giveBack(board));
        } finally {
            board.marked.sent();
        }
    }

    private void send(List<KeyProgress> keys, List<Send> sends) {
        for (KeyProgress k : keys) {
            Send s = k.plan(board);
            if (s != null && s.set) {
                lowering.put(s);
            } else if (s != null) {
                sends.add(s);
            }
        }
        sends.sort(BY_NAMES);
        blamed = 0;
        for (int from = 0; from < sends.size();) {
            int to = fitting(sends, from);
            commit(sends.subList(from, to));
            from = to;
        }
    }

    /** How far a request that begins at from may go. */
    private static int fitting(List<Send> sends, int from) {
        int bytes = 0;
        Queues names = null;
        for (int i = from; i < sends.size(); i++) {
            Queues of = sends.get(i).key.of;
            bytes += BYTES_A_COMMIT + (of == names ? 0 : 3 * (of.topic.length() + of.group.length()) + 64);
            names = of;
            if (bytes > MAX_BYTES && i > from) {
                return i;
            }
        }
        return sends.size();
    }

    private void commit(List<Send> sends) {
        List<Commit> commits = new ArrayList<>(sends.size());
        for (Send s : sends) {
            commits.add(new Commit(OffsetKeys.of(s.key, broker), s.offset, s.epoch));
        }
        board.tally.inFlight.add(sends.size());
        try {
            String id = board.view.clusterId;
            Deadline deadline = Deadline.after(CALL_MILLIS, TimeUnit.MILLISECONDS);
            CommitAnswer a = contact.call(() -> cluster.commit(id, commits, deadline));
            if (!a.meta().clusterId().equals(id)) {
                throw Contact.foreign(a.meta(), id);
            }
            verdicts(sends, a);
            failures = 0;
        } catch (TidemarkException e) {
            failed(sends, e);
        } finally {
            board.tally.inFlight.add(-sends.size());
        }
    }

    private void verdicts(List<Send> sends, CommitAnswer a) {
        contact.answered();
        board.tally.acknowledged(sends.size() - a.refusals().size(), a.meta().index());
        board.tally.fenced.add(a.refusals().size());
        for (int i = 0; i < sends.size(); i++) {
            Send s = sends.get(i);
            if (a.accepted(i)) {
                s.key.accepted(s, a.offset(i), s.epoch, board);
            } else {
                s.key.fenced(s, board);
            }
        }
    }

    private void failed(List<Send> sends, TidemarkException e) {
        boolean oneIsToBlame = e.code() == Code.INVALID || e.code() == Code.LIMIT || e.code() == Code.DENIED;
        if (oneIsToBlame && sends.size() > 1 && blamed < MOST_BLAMED) {
            int half = sends.size() / 2;
            boolean turned = ThreadLocalRandom.current().nextBoolean(); // else the same ones would come last each time
            commit(turned ? sends.subList(half, sends.size()) : sends.subList(0, half));
            commit(turned ? sends.subList(0, half) : sends.subList(half, sends.size()));
            return;
        }
        blamed += oneIsToBlame ? 1 : 0;
        failures++;
        contact.failed(e);
        if (e.code() == Code.FOREIGN_CLUSTER) {
            foreign.run();
        }
        for (Send s : sends) {
            if (oneIsToBlame && sends.size() > 1) {
                s.key.refused(s, board); // another one may be to blame
            } else {
                undecided(s, e, board);
            }
        }
    }

    /** What an error says of a send. */
    static void undecided(Send s, TidemarkException e, Board board) {
        if (e.outcomeUnknown()) {
            s.key.unknown(s, board);
        } else if (e.code() == Code.INVALID) {
            board.lines.error("tidemark: the cluster cannot hold offset " + s.offset + " of " + s.key.key()
                + "; it stays in this broker's memory and file alone", e);
            s.key.impossible(s, board);
        } else {
            s.key.refused(s, board);
        }
    }
}
