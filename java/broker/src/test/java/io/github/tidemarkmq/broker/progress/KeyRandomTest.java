package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.broker.progress.KeyProgress.Phase;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.Position;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * One key, step by step, against a small model of the cluster: requests may be applied late, be answered late or never;
 * operators move the key; a slave raises it; connections commit what they know; the log becomes durable behind.
 */
class KeyRandomTest {
    private static final int RUNS = Integer.getInteger("runs", 3_000);
    private static final int STEPS = 60;

    @Test
    void nothingIsLostOrUndone() {
        long seed = Long.getLong("seed", System.nanoTime());
        for (int run = 0; run < RUNS; run++) {
            Random random = new Random(seed + run);
            World w = new World(random);
            try {
                for (int i = 0; i < STEPS; i++) {
                    w.step();
                }
                w.finish();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("-Dseed=" + (seed + run) + " -Druns=1: " + e + "\n"
                    + String.join("\n", w.trace), e);
            } finally {
                w.close();
            }
        }
    }

    /** A value that a connection has committed, and the act that it knew of. */
    private static final class Said {
        final int number;
        final long offset;
        final long knew;
        final long position;
        Decision decision;
        boolean twoWay;
        boolean passed;

        Said(int number, long offset, long knew, long position) {
            this.number = number;
            this.offset = offset;
            this.knew = knew;
            this.position = position;
        }
    }

    /** A request under way. */
    private static final class Call {
        final Send send;
        /** 1 applied and accepted, 2 applied and fenced, 0 not applied yet. */
        int applied;
        KeyState state;
        boolean answered;

        Call(Send send) {
            this.send = send;
        }
    }

    private static final class World implements Consumers, Log, LogEnd {
        final Random random;
        final List<String> trace = new ArrayList<>();
        final Board board;
        final Table table;
        final Thread outbox;
        final Key key = new Key("t", "g", 0);
        final Waiters waiters = new Waiters(3_600_000, 1_000, this);
        final List<Call> calls = new ArrayList<>();
        final List<KeyState> rows = new ArrayList<>();
        final Map<Long, Said> said = new HashMap<>();
        final List<Said> all = new ArrayList<>();
        final long[] knows = new long[3];
        long logEnd;
        long durable;
        // The cluster's state of the key.
        boolean exists;
        long offset;
        long index = 10;
        long changed;
        long epoch;
        boolean pending;
        static final long CLAIM = 5;
        long lastSaid;
        long next = 1;
        volatile long assigned = -1;
        volatile AssertionError failure;

        World(Random random) {
            this.random = random;
            Outbox out = new Outbox(this, this);
            board = new Board(new View(Role.MASTER, "c", CLAIM, 10), this, out, this);
            table = new Table(board.tally);
            outbox = new Thread(out);
            outbox.setDaemon(true);
            outbox.start();
        }

        void step() {
            int kind = random.nextInt(100);
            if (kind < 30) {
                commit();
            } else if (kind < 45) {
                plan();
            } else if (kind < 60) {
                arrive(random);
            } else if (kind < 75) {
                answer(random.nextInt(5) == 0);
            } else if (kind < 80) {
                readAll();
            } else if (kind < 84) {
                note("row noted");
                rows.add(state());
            } else if (kind < 88 && !rows.isEmpty()) {
                KeyState s = rows.remove(random.nextInt(rows.size()));
                note("row " + s);
                if (s.exists()) {
                    table.with(key, k -> {
                        Takeover.follow(k, s, board);
                        return null;
                    });
                }
            } else if (kind < 91) {
                act();
            } else if (kind < 94) {
                durable = logEnd;
                note("log durable to " + durable);
                board.marked.logMoved();
            } else if (kind < 97) {
                followed();
            } else {
                open();
            }
            told();
        }

        void note(String s) {
            trace.add(s);
        }

        void told() {
            assertTrue(board.outbox.flush(20_000), "the outbox's thread has failed");
            if (failure != null) {
                throw failure;
            }
        }

        /** Values are unique, so that what the cluster has tells whose it is. */
        void commit() {
            int who = random.nextInt(knows.length);
            long v = next++ * 100 + 20 + random.nextInt(70);
            if (random.nextInt(8) == 0) {
                v = Math.max(20, v - random.nextInt(1_500) * 100L);
                if (said.containsKey(v)) {
                    return;
                }
            }
            logEnd += random.nextInt(3);
            Said s = new Said(all.size(), v, knows[who], logEnd);
            s.twoWay = random.nextBoolean();
            said.put(v, s);
            all.add(s);
            seen();
            Commit c = s.twoWay ? Commit.twoWay(key, v, "c" + who, logEnd, d -> decided(s, d))
                : Commit.of(key, v, Origin.ONE_WAY, "c" + who, logEnd);
            Waiter waiter = s.twoWay ? waiters.enter(c.decided()) : null;
            Decision d = table.with(key, k -> k.commit(c, waiter, board));
            note("c" + who + " commits " + v + " at " + logEnd + ", knows " + s.knew + ": " + d);
            if (waiter != null && d != null) {
                waiter.decide(d);
            }
        }

        /** Durable means: this value, or a later one of the key, was applied, or what was there was above it. */
        void decided(Said s, Decision d) {
            if (s.decision != null) {
                failure = new AssertionError(s.offset + " is decided twice");
            }
            s.decision = d;
            if (d == Decision.DURABLE && lastSaid < s.number && !s.passed) {
                failure = new AssertionError(s.offset + " is called durable at " + offset);
            }
        }

        /** What was said has been reached, or passed, even if an act has moved the key since. */
        void seen() {
            for (Said s : all) {
                s.passed |= exists && offset >= s.offset;
            }
        }

        void plan() {
            List<KeyProgress> keys;
            try {
                board.marked.go();
                board.marked.idle(0, TimeUnit.MILLISECONDS, false);
                keys = board.marked.poll(10);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            for (KeyProgress k : keys) {
                Send s = k.plan(board);
                if (s != null) {
                    Said v = said.get(s.offset);
                    if (v != null) {
                        assertTrue(v.position <= durable, "sent before its log is durable: " + s.offset);
                    }
                    note((s.set ? "set " : "advance ") + s.offset + " epoch " + s.epoch);
                    calls.add(new Call(s));
                }
            }
        }

        /** A request reaches the log: any that has not, in any order. */
        void arrive(Random r) {
            List<Call> open = new ArrayList<>();
            for (Call c : calls) {
                if (c.applied == 0) {
                    open.add(c);
                }
            }
            if (!open.isEmpty()) {
                apply(open.get(r.nextInt(open.size())));
            }
        }

        void apply(Call c) {
            index++;
            long mustBe = Math.max(epoch, CLAIM);
            boolean same = c.send.epoch == mustBe;
            long has = exists ? offset : KeyProgress.NONE;
            if (c.send.set) {
                same &= has == c.send.replaces;
            }
            if (same && (c.send.set || c.send.offset > has)) {
                Said s = said.get(c.send.offset);
                if (s != null) {
                    assertTrue(s.knew >= lastAct,
                        "a value that knew " + s.knew + " replaces what act " + lastAct + " set: " + s.offset);
                    lastSaid = Math.max(lastSaid, s.number);
                }
                if (c.send.set) {
                    epoch = index;
                } else if (!exists) {
                    epoch = mustBe;
                }
                exists = true;
                offset = c.send.offset;
                changed = index;
            }
            if (same && !c.send.set) {
                pending = false;
            }
            seen();
            c.applied = same ? 1 : 2;
            c.state = state();
            note("applied " + c.send.offset + ": " + (same ? "accepted" : "fenced") + ", now " + state());
        }

        long lastAct;

        KeyState state() {
            OffsetKey k = new OffsetKey("g", "t", "b", 0);
            return new KeyState(k, exists, new Position(exists ? offset : 0, changed, epoch, 0, pending),
                Math.max(epoch, CLAIM), CLAIM);
        }

        void answer(boolean lost) {
            List<Call> open = new ArrayList<>();
            for (Call c : calls) {
                if (!c.answered) {
                    open.add(c);
                }
            }
            if (!open.isEmpty()) {
                answer(open.get(random.nextInt(open.size())), lost);
            }
        }

        void answer(Call c, boolean lost) {
            if (c.applied == 0 && !lost) {
                apply(c);
            }
            c.answered = true;
            KeyProgress k = c.send.key;
            if (lost) {
                note("unknown " + c.send.offset);
                k.unknown(c.send, board);
            } else if (c.applied == 1) {
                note("accepted " + c.send.offset);
                k.accepted(c.send, c.state.position().offset(), c.state.epoch(), board);
            } else if (c.send.set && c.send.again && c.state.exists() && c.state.position().offset() == c.send.offset
                && c.state.position().index() == c.state.position().epoch()) {
                k.accepted(c.send, c.state.position().offset(), c.state.epoch(), board);
            } else {
                note("fenced " + c.send.offset);
                k.fenced(c.send, board);
            }
        }

        void readAll() {
            board.reads.go();
            for (Reads.Wish w : board.reads.poll(10)) {
                note("read " + state());
                Takeover.read(w.key, state(), board);
            }
        }

        /** An operator's reset, removal or merge, or what a slave took. */
        void act() {
            index++;
            int kind = random.nextInt(6);
            if (kind == 0 && exists) {
                exists = false;
                pending = false;
                epoch = index;
            } else if (kind == 1 && exists) {
                offset += 1;
                changed = index;
                seen();
                note("a slave raises to " + offset);
                return;
            } else if (kind == 2) {
                exists = true;
                offset = next++ * 100 + 7;
                epoch = index;
                changed = index;
            } else {
                exists = true;
                offset = random.nextInt((int) next + 1) * 100L + 3;
                epoch = index;
                changed = index;
                pending = true;
            }
            lastAct = index;
            seen();
            note("act: " + state());
        }

        /** A consumer follows the reset that is assigned, and so knows of all acts up to the one read. */
        void followed() {
            KeyProgress k = table.get(key);
            if (k == null || assigned < 0) {
                return;
            }
            int who = random.nextInt(knows.length);
            synchronized (k) {
                long held = k.epoch;
                if (k.followed(assigned, "c" + who, board)) {
                    knows[who] = held;
                    note("c" + who + " follows to " + assigned);
                }
            }
        }

        /** A connection reads the key from the table. */
        void open() {
            KeyProgress k = table.get(key);
            int who = random.nextInt(knows.length);
            if (k != null) {
                synchronized (k) {
                    if (k.phase != Phase.FENCED && k.phase != Phase.UNREAD) {
                        k.opened("c" + who, k.value, board);
                        knows[who] = Math.max(knows[who], k.epoch);
                        note("c" + who + " reads " + k.value);
                    }
                }
            }
        }

        /** Everything arrives and is answered; then the table and the cluster agree, and everybody was told. */
        void finish() {
            for (int i = 0; i < 60; i++) {
                durable = logEnd;
                board.marked.logMoved();
                plan();
                for (Call c : calls) {
                    if (c.applied == 0) {
                        apply(c);
                    }
                    if (!c.answered) {
                        answer(c, false);
                    }
                }
                readAll();
                KeyState s = state();
                if (i > 30) {
                    KeyProgress k = table.get(key);
                    if (k != null) {
                        Takeover.follow(k, s, board);
                    }
                }
                told();
                followed();
            }
            KeyProgress k = table.get(key);
            if (k == null) {
                return;
            }
            assertEquals(exists ? offset : KeyProgress.NONE, k.value, "the table and the cluster");
            assertEquals(0, board.tally.marked.sum(), "marked");
            for (Said s : all) {
                assertTrue(!s.twoWay || s.decision != null, "nobody answered " + s.offset);
            }
        }

        void close() {
            board.outbox.close();
        }

        @Override
        public void assign(Key k, long before, long o) {
            assigned = o;
        }

        @Override
        public void release(Key k) {
            assigned = -1;
        }

        @Override
        public boolean neverPulls(Key k) {
            return false;
        }

        @Override
        public void info(String line) {
        }

        @Override
        public void warn(String line) {
        }

        @Override
        public void error(String line, Throwable cause) {
            throw new AssertionError(line, cause);
        }

        @Override
        public long end() {
            return logEnd;
        }

        @Override
        public long durable() {
            return durable;
        }

        @Override
        public void want(long position, boolean soon) {
        }

        @Override
        public void onAdvance(Runnable moved) {
        }
    }
}
