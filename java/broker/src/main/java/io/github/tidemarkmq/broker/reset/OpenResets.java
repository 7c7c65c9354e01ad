package io.github.tidemarkmq.broker.reset;

import io.github.tidemarkmq.broker.manager.Resets;
import io.github.tidemarkmq.broker.planted.Mistake;
import io.github.tidemarkmq.broker.progress.Commit;
import io.github.tidemarkmq.broker.progress.Consumers;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Origin;
import io.github.tidemarkmq.broker.progress.Peers;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The resets that consumers have not finished following: one a key, from {@link #assign} until 15 s after it was
 * followed. The broker's own server-side reset carries them (RIP-48; a pull is answered PULL_OFFSET_MOVED, a pop starts
 * there), so that every kind of client understands; what that forgets is kept here: the commit on the back of the very
 * pull that took the reset, and values of before that come later (a broker 5.5.0 lets the old offset
 * stand again, for up to 175 ms in five of six resets), never undo it.
 *
 * <p>All methods: any thread. One thread of its own looks once a second for resets that nobody followed.
 */
public final class OpenResets implements Consumers, Resets {
    /** The "client" of the commit with which POP starts again (PopMessageProcessor.resetPopOffset). */
    private static final String POP_RESTART = "ResetPopOffset";
    /** RocketMQ's BroadcastOffsetManager keeps its groups under this ending. */
    private static final String BROADCAST = "@broadcast";
    private static final long CARRY_AGAIN_MILLIS = 30_000;

    private final ConcurrentMap<Key, Move> moves = new ConcurrentHashMap<>();
    /** The reset that the pull of this thread has taken, until its answer and what is on its back have passed. */
    private final ThreadLocal<Move> taking = new ThreadLocal<>();
    private final Nudge nudge;
    private final Peers peers;
    private final LongSupplier millis;
    private final Log log;
    private final Thread thread = new Thread(this::run, "tidemark-resets");
    private volatile Offsets offsets;
    private volatile boolean closed;
    private volatile long carryAtMillis;

    public OpenResets(Nudge nudge, Peers peers, Log log) {
        this(nudge, peers, log, () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
    }

    OpenResets(Nudge nudge, Peers peers, Log log, LongSupplier millis) {
        this.nudge = nudge;
        this.peers = peers;
        this.log = log;
        this.millis = millis;
        thread.setDaemon(true);
    }

    /** Starts its thread. Before it, nothing may be called. */
    public void start(Offsets table) {
        offsets = table;
        thread.start();
    }

    /** Ends its thread, and waits for it. */
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void assign(Key key, long before, long offset) {
        Move move = new Move(key, peers, before, offset, millis.getAsLong());
        Move earlier = moves.get(key);
        if (earlier != null) {
            move.after(earlier);
        }
        moves.put(key, move);
        if (nudge.carries()) {
            carryAtMillis = Long.MIN_VALUE; // at the next look, with others that come now
        } else {
            nudge.nudge(Collections.singletonMap(key, offset));
        }
    }

    @Override
    public void release(Key key) {
        moves.remove(key);
    }

    @Override
    public boolean neverPulls(Key key) {
        return key.group().endsWith(BROADCAST);
    }

    @Override
    public boolean waits(Key key) {
        Move move = moves.get(key);
        return move != null && !nudge.carries() && move.waits();
    }

    @Override
    public Long take(Key key, String client) {
        taking.remove();
        Move move = moves.get(key);
        if (move == null || !move.take(client, millis.getAsLong())) {
            return null;
        }
        taking.set(move);
        return move.to;
    }

    @Override
    public void pulled(Key key, String client, long from, long next) {
        Move mine = taking.get();
        if (mine != null) {
            if (mine.key.equals(key) && mine.takenBy(client, next)) {
                return;
            }
            taking.remove();
        }
        Move move = moves.get(key);
        if (move != null && move.pulled(client, from, next, millis.getAsLong())) {
            tell(move, client);
        }
    }

    @Override
    public boolean admits(Commit commit) {
        if (commit.isOperators()) {
            return true; // it is of no consumer, and so neither from before a reset nor a sign of following
        }
        Move mine = taking.get();
        if (mine != null && mine.key.equals(commit.key())) {
            if (POP_RESTART.equals(commit.client())) {
                taking.remove();
                mine.popped(millis.getAsLong());
                return tell(mine, commit.client());
            }
            if (commit.origin() == Origin.PULL) {
                taking.remove();
                mine.had(commit.offset());
                return Mistake.RESET_UNDONE && tell(mine, commit.client());
            }
        }
        Move move = moves.get(commit.key());
        if (move == null) {
            return true;
        }
        switch (move.judge(commit, nudge.carries(), millis.getAsLong())) {
            case FOLLOW:
                return tell(move, commit.client());
            case DROP:
                return false;
            default:
                return true;
        }
    }

    /** How many there are, for the broker's status. */
    public int size() {
        return moves.size();
    }

    private boolean tell(Move move, String client) {
        boolean current = offsets.followed(move.key, move.to, client);
        if (!current) {
            moves.remove(move.key, move);
        }
        return current;
    }

    private void run() {
        while (!closed) {
            try {
                Thread.sleep(1_000);
                look();
            } catch (InterruptedException e) {
                return; // close
            } catch (RuntimeException | Error e) {
                log.error("Looking after resets that consumers have not followed failed; it is tried again.", e);
            }
        }
    }

    /** Assigns again what was taken and not followed, forgets what was followed long ago, carries what is due. */
    void look() {
        long now = millis.getAsLong();
        for (Move move : moves.values()) {
            if (move.over(now) || move.ignored(now) && !offsets.assignAgain(move.key, move.to)) {
                moves.remove(move.key, move);
            }
        }
        if (nudge.carries() && now >= carryAtMillis) {
            carryAtMillis = now + CARRY_AGAIN_MILLIS;
            carry();
        }
    }

    private void carry() {
        Map<Key, Long> waiting = new HashMap<>();
        for (Move move : moves.values()) {
            if (move.waits()) {
                waiting.put(move.key, move.to);
            }
        }
        if (!waiting.isEmpty()) {
            nudge.nudge(waiting);
        }
    }
}
