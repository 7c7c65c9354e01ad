package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.SetAnswer;
import io.github.tidemarkmq.client.SetRefusedException;
import io.github.tidemarkmq.client.SetRequest;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Brings lowered values to the cluster, one Set at a time, alongside the senders, so that no commit waits for them.
 * What it holds is in flight: a Set whose outcome is not known is sent again as it was before anything else of its key.
 */
final class Lowering implements Runnable {
    private static final long CALL_MILLIS = 5_000;

    private final Cluster cluster;
    private final String broker;
    private final Board board;
    private final Contact contact;
    private final Runnable foreign;
    /** Bounded by the keys: each is in it once at most. */
    private final LinkedBlockingQueue<Send> queue = new LinkedBlockingQueue<>();
    private int failures;

    Lowering(Cluster cluster, String broker, Board board, Contact contact, Runnable foreign) {
        this.cluster = cluster;
        this.broker = broker;
        this.board = board;
        this.contact = contact;
        this.foreign = foreign;
    }

    /** Takes a Set over from a sender, which still counts it as taken. */
    void put(Send s) {
        board.marked.hold();
        board.tally.inFlight.increment();
        queue.add(s);
    }

    /** Until interrupted, or closed. */
    @Override
    public void run() {
        try {
            while (!contact.isClosed()) {
                Send s = queue.poll(100, TimeUnit.MILLISECONDS);
                if (s != null) {
                    turn(s);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void turn(Send s) throws InterruptedException {
        try {
            set(s);
        } catch (RuntimeException | Error e) {
            contact.stumbled("lowering an offset", e);
            s.key.unknown(s, board); // unless it was decided
        } finally {
            board.tally.inFlight.decrement();
            board.marked.sent();
        }
        if (failures > 0) {
            contact.pause(failures);
        }
    }

    private void set(Send s) {
        String id = board.view.clusterId;
        OffsetKey key = OffsetKeys.of(s.key, broker);
        try {
            SetRequest request = SetRequest.replacing(key, id, s.epoch, s.replaces, s.offset);
            Deadline deadline = Deadline.after(CALL_MILLIS, TimeUnit.MILLISECONDS);
            SetAnswer a = contact.call(() -> cluster.set(request, deadline));
            contact.answered();
            done(s, a.state(), a.meta().index());
        } catch (SetRefusedException e) {
            refused(s, e.state());
        } catch (TidemarkException e) {
            failed(s, e);
        }
    }

    private void done(Send s, KeyState state, long index) {
        failures = 0;
        board.tally.acknowledged(1, index);
        s.key.accepted(s, state.position().offset(), state.epoch(), board);
    }

    /** A Set that was sent before may be what is there now: its value, moved by nothing since. */
    private void refused(Send s, KeyState now) {
        contact.answered();
        if (s.again && now.exists() && now.position().offset() == s.offset
            && now.position().index() == now.position().epoch()) {
            done(s, now, now.position().index());
            return;
        }
        board.tally.fenced.increment();
        s.key.fenced(s, board);
    }

    private void failed(Send s, TidemarkException e) {
        failures++;
        contact.failed(e);
        if (e.code() == Code.FOREIGN_CLUSTER) {
            foreign.run();
        }
        Sender.undecided(s, e, board);
    }
}
