package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Scope;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The offsets of one broker: a table in memory that answers every query and takes every commit, and the threads that
 * bring what changed to the cluster. See DESIGN.md for the state of a key.
 *
 * <p>Every method may be called from any thread once {@link #start} has returned, unless it says otherwise. Commits
 * and queries never wait for the cluster; acts do, for {@link Options#actMillis} at most. It does not close the
 * cluster's client.
 */
public final class Progress {
    private final Options options;
    private final Board board;
    private final Table table;
    private final Waiters waiters;
    private final Life life;

    /** Puts the parts together. No I/O, no thread. */
    public Progress(Options options, Cluster cluster, LogEnd log, Consumers consumers, Log lines) {
        this.options = options;
        View nothing = new View(Role.MASTER, "", 0, 0);
        this.board = new Board(nothing, log, new Outbox(consumers, lines), options.peers, lines);
        this.table = new Table(board.tally);
        this.waiters = new Waiters(options.twoWayMillis, options.maxWaiting, lines);
        this.life = new Life(options, cluster, board, table, waiters);
        log.onAdvance(board.marked::logMoved);
    }

    /**
     * Reads all keys of the broker's name, or imports the broker's file, whole, if the cluster has none; a master
     * claims the name first. When it returns, the broker may serve. Blocks for {@link Options#startMillis} at most,
     * plus what an import takes. Called once, before the message store is there.
     *
     * @param file what the broker's file held ({@link OffsetFile#read})
     * @throws StartRefused the broker must not serve; nothing was half done that the next start would not end
     */
    public void start(Role role, OffsetFile file) throws StartRefused {
        life.start(role, file);
    }

    /**
     * Takes a commit: the key's value changes at once, and goes to the cluster later. Never blocks. It is not taken
     * (see {@link Decision} for why) while a reset of the key is assigned, from a connection that a moved key is closed
     * to, of a key that another broker has claimed, where it is lower at a slave, and if it is no offset.
     *
     * @return whether it was taken. A two-way commit's Decided is called in each case, perhaps before this returns
     */
    public boolean commit(Commit commit) {
        if (commit.offset() < 0 || !Queues.storable(commit.key())) {
            return answer(commit, Decision.INVALID, false);
        }
        Waiter waiter = commit.decided() == null ? null : waiters.enter(commit.decided());
        Decision d = table.with(commit.key(), k -> k.commit(commit, waiter, board));
        boolean taken = d == null || d == Decision.DURABLE;
        if (waiter == null) {
            return answer(commit, d == null ? Decision.NOT_YET : d, taken); // too many wait
        }
        if (d != null) {
            waiter.decide(d);
        }
        return taken;
    }

    private static boolean answer(Commit c, Decision d, boolean taken) {
        if (c.decided() != null) {
            c.decided().decided(d);
        }
        return taken;
    }

    /** Whether a consumer's query is to be answered by {@link #read}: at a slave, and during a promotion. */
    public boolean asksCluster() {
        return life.asksCluster();
    }

    /** What the table holds for a key, or nothing. Never blocks. While a reset is assigned: its offset. */
    public OptionalLong query(Key key) {
        KeyProgress k = table.get(key);
        return k == null ? OptionalLong.empty() : optional(k.value);
    }

    private static OptionalLong optional(long value) {
        return value == KeyProgress.NONE ? OptionalLong.empty() : OptionalLong.of(value);
    }

    /** The topics that a group has offsets on. Walks the names of the table. */
    public Set<String> topics(String group) {
        Set<String> out = new HashSet<>();
        table.forEachQueues(q -> {
            if (q.group.equals(group) && q.hasOffset()) {
                out.add(q.topic);
            }
        });
        return out;
    }

    /** The groups that have offsets on a topic. Walks the names of the table. */
    public Set<String> groups(String topic) {
        Set<String> out = new HashSet<>();
        table.forEachQueues(q -> {
            if (q.topic.equals(topic) && q.hasOffset()) {
                out.add(q.group);
            }
        });
        return out;
    }

    /** The offsets of a group on a topic, by queue: a copy. Empty if there are none. */
    public Map<Integer, Long> queues(String topic, String group) {
        Map<Integer, Long> out = new HashMap<>();
        Queues q = table.queues(topic, group);
        if (q != null) {
            q.byId.forEach((id, k) -> {
                long v = k.value;
                if (v != KeyProgress.NONE) {
                    out.put(id, v);
                }
            });
        }
        return out;
    }

    /** What became of a {@link #read}. */
    public interface Read {
        /**
         * Must not block.
         *
         * @param certain whether the cluster has answered, and has what this broker's file had; if not, the offset is
         *     the table's, and none says only that this broker knows none
         */
        void done(OptionalLong offset, boolean certain);
    }

    /**
     * For a code 14 where {@link #asksCluster}: the key as the cluster has it, by a linearizable read that begins after
     * the call, taken over into the table; what the table has if the cluster does not answer within 2 s. The connection
     * is opened ({@link #opened}) if it did. Several reads travel together.
     */
    public void read(Key key, String client, Read read) {
        if (!Queues.storable(key)) {
            read.done(OptionalLong.empty(), true);
            return;
        }
        boolean settled = life.isSettled(); // what is read was there before it was
        Waiter waiter = waiters.enter(d -> {
            OptionalLong v = query(key);
            if (d == Decision.DURABLE) {
                opened(key, client, v);
            }
            read.done(v, d == Decision.DURABLE && settled);
        });
        if (waiter == null) {
            read.done(query(key), false); // too many wait
            return;
        }
        board.reads.put(table.with(key, k -> k), waiter);
    }

    /** Whether a reset of the key is assigned and not yet followed; empty if not, else its offset. */
    public OptionalLong assigned(Key key) {
        KeyProgress k = table.get(key);
        return k == null ? OptionalLong.empty() : optional(k.assigned());
    }

    /**
     * A consumer of the key has followed the reset to this offset: it is taken over, sent as a commit of just that,
     * and commits of this connection are taken again.
     *
     * @param client the address of the connection, as its commits have it; {@link Commit#POP} for POP
     * @return false, and nothing is done, if another offset is assigned by now, or none
     */
    public boolean followed(Key key, long offset, String client) {
        KeyProgress k = table.get(key);
        return k != null && k.followed(offset, client, board);
    }

    /**
     * A query of the key was answered to this connection: what it commits from now on rests on that. A key that was
     * moved on purpose is closed to all connections that have not read it since
     * (docs/decisions/0013-slaves-of-a-broker.md).
     *
     * @param answered what {@link #query} gave; the connection stays closed if the table has another by now
     */
    public void opened(Key key, String client, OptionalLong answered) {
        KeyProgress k = table.get(key);
        if (k != null) {
            k.opened(client, answered.orElse(KeyProgress.NONE), board);
        }
    }

    /** A connection is closed, or the last one of a host ({@link Peers}): what was opened to it is forgotten. */
    public void forget(String client) {
        board.opened.forget(client);
    }

    /**
     * Assigns the reset of the key again: the one that took it has not followed.
     *
     * @return false, and nothing is done, if another offset is assigned by now, or none
     */
    public boolean assignAgain(Key key, long offset) {
        KeyProgress k = table.get(key);
        return k != null && k.assignAgain(offset, board);
    }

    /** Removes all keys of a group at this broker. Blocks. Nothing there is no error. */
    public void removeGroup(String group) throws ActFailed {
        life.acts.remove(Scope.group(group), q -> q.group.equals(group));
    }

    /** Removes the keys of a topic in all groups at this broker. Blocks. Nothing there is no error. */
    public void removeTopic(String topic) throws ActFailed {
        life.acts.remove(Scope.topicOfAllGroups(topic), q -> q.topic.equals(topic));
    }

    /** Removes the keys of a group on a topic at this broker. Blocks. Nothing there is no error. */
    public void remove(String topic, String group) throws ActFailed {
        life.acts.remove(Scope.topic(group, topic), q -> q.topic.equals(topic) && q.group.equals(group));
    }

    /** Copies what one group has on a topic (null: on all) at this broker over another's, as one act. Blocks. */
    public void cloneGroup(String from, String to, String topic) throws ActFailed {
        life.acts.cloneGroup(from, to, topic);
    }

    /**
     * Gives keys explicit offsets, as one act of up to 10,000 keys, and has their consumers follow
     * ({@link Consumers#assign}). Blocks. It is what 222 does, and what lowers offsets beyond the end of their queue.
     */
    public void assign(Map<Key, Long> targets) throws ActFailed {
        if (!targets.isEmpty()) {
            life.acts.assign(targets);
        }
    }

    /**
     * All keys with an offset, each as of some moment during the call; in no order. Where POP began at the end of a
     * queue, at a slave or at a master that has yet to come to its keys, that is none before the key has been read.
     * Blocks no commit for long.
     */
    public void rows(Rows rows) {
        boolean popYields = life.popYields();
        table.forEachQueues(q -> q.byId.forEach((id, k) -> {
            long v = k.row(popYields);
            if (v != KeyProgress.NONE) {
                rows.row(q.topic, q.group, id, v);
            }
        }));
    }

    /**
     * The mark to be written into the broker's file, next to the table as {@link #rows} gives it after this call. Null:
     * the file must not be written, since it still holds what nobody else has; so does one whose import is under way.
     */
    public Mark mark() {
        return life.mark();
    }

    /** Writes the broker's file. */
    public interface Writing {
        /** Writes it with this mark, next to the table as {@link #rows} gives it now. */
        void write(Mark mark) throws IOException;
    }

    /**
     * Has the broker's file written, with its {@link #mark}; not where that says that it must not be. Blocks for as
     * long as that takes, and while the mark of an import is written. To be called after {@link #start}.
     */
    public void persist(Writing writing) throws IOException {
        life.persist(writing);
    }

    /**
     * This broker is the master from now on: claims the name and reads all keys again. Blocks, for
     * {@link Options#startMillis} at most; then it continues in the background, and until it is done nothing is sent.
     *
     * @param epoch under which a controller has made it the master: nothing is claimed over a later one; 0 without a
     *     controller
     * @throws StartRefused the name belongs to another holder: this broker must not serve as a master
     */
    public void promote(long epoch) throws StartRefused {
        life.promote(epoch);
    }

    /**
     * Whether a master of an earlier epoch has claimed the name after this one, which has lost keys to it: then it is
     * to be promoted again. False if the cluster does not say. Blocks for {@link Options#actMillis} at most.
     */
    public boolean isOvertaken() {
        return life.isOvertaken();
    }

    /** This broker is a slave from now on. Does not block. Nothing is lowered, no reset assigned from now on. */
    public void demote() {
        life.demote();
    }

    /**
     * A slave's master says that it has read this cluster in its role: what a slave's file had, that master has
     * brought in. Nothing happens at a master, and where it is another cluster. Waits for an arrival under way.
     */
    public void masterHasRead(String clusterId) {
        life.masterHasRead(clusterId);
    }

    /** Whether what the broker's file, or its master's, had is in the cluster; until then a slave sends nothing. */
    public boolean isSettled() {
        return life.isSettled();
    }

    /** How things stand. Cheap enough for each brokerStatus; walks no table. */
    public Counters counters() {
        return board.counters(waiters.count(), life::hasArrived);
    }

    /** Waits until nothing is left to send, for the time given at most; returns whether that is so. */
    public boolean drain(long time, TimeUnit unit) {
        return life.drain(time, unit);
    }

    /**
     * Sends what is marked, within the time given, answers whoever waits, and ends its threads. What is not sent by
     * then is in {@link #mark}, which still works, as {@link #query}, {@link #commit} and {@link #rows} do.
     */
    public void close(long time, TimeUnit unit) {
        life.drain(time, unit);
        life.close();
    }
}
