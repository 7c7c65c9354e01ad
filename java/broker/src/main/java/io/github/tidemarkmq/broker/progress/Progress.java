package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Cluster;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The offsets of one broker: a table in memory that answers every query and takes every commit, and the threads that
 * bring what changed to the cluster. See DESIGN.md for the state of a key.
 *
 * <p>Every method may be called from any thread once {@link #start} has returned, unless it says otherwise. Commits
 * and queries never wait for the cluster; acts do, for {@link Options#actMillis} at most. It does not close the
 * cluster's client.
 */
public final class Progress {
    /** Puts the parts together. No I/O, no thread. */
    public Progress(Options options, Cluster cluster, LogEnd log, Consumers consumers, Log lines) {
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
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * Takes a commit: the key's value changes at once, and goes to the cluster behind. Never blocks. It is not taken
     * (see {@link Decided.Decision} for why) while a reset of the key is assigned, from a connection that a moved key
     * is closed to, of a key that another broker has claimed, where it is lower at a slave, and if it is no offset.
     *
     * @return whether it was taken. A two-way commit's Decided is called in each case, perhaps before this returns
     */
    public boolean commit(Commit commit) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** What the table holds for a key, or nothing. Never blocks. While a reset is assigned: its offset. */
    public OptionalLong query(Key key) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** The topics that a group has offsets on. Walks the names of the table. */
    public Set<String> topics(String group) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** The groups that have offsets on a topic. Walks the names of the table. */
    public Set<String> groups(String topic) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** The offsets of a group on a topic, by queue: a copy. Empty if there are none. */
    public Map<Integer, Long> queues(String topic, String group) {
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * For a slave's code 14: the key as the cluster has it, by a linearizable read that begins after the call, taken
     * over into the table; what the table has if the cluster does not answer within 2 s. The connection is opened
     * ({@link #opened}) if it did. The callee must not block. Several reads travel together.
     */
    public void read(Key key, String client, Consumer<OptionalLong> answer) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Whether a reset of the key is assigned and not yet followed; empty if not, else its offset. */
    public OptionalLong assigned(Key key) {
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * A consumer of the key has followed the reset to this offset: it is taken over, sent as a commit of just that,
     * and commits of this connection are taken again.
     *
     * @param client the address of the connection, as its commits have it
     * @return false, and nothing is done, if another offset is assigned by now, or none
     */
    public boolean followed(Key key, long offset, String client) {
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * A query of the key was answered to this connection from {@link #query}: what it commits from now on rests on
     * that. A key that was moved on purpose is closed to all connections that have not read it since
     * (docs/decisions/0013-slaves-of-a-broker.md).
     */
    public void opened(Key key, String client) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** A connection is closed: what was opened to it is forgotten. */
    public void forget(String client) {
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * Assigns the reset of the key again: its consumer did not keep to it. Commits are not taken until it is followed.
     * Nothing is done if the key has been reset otherwise since, or is lost.
     */
    public void assignAgain(Key key, long offset) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Removes all keys of a group at this broker. Blocks. Nothing there is no error. */
    public void removeGroup(String group) throws ActFailed {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Removes the keys of a topic in all groups at this broker. Blocks. Nothing there is no error. */
    public void removeTopic(String topic) throws ActFailed {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Removes the keys of a group on a topic at this broker. Blocks. Nothing there is no error. */
    public void remove(String topic, String group) throws ActFailed {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Copies what one group has on a topic (null: on all) at this broker over another's, as one act. Blocks. */
    public void cloneGroup(String from, String to, String topic) throws ActFailed {
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * Gives keys explicit offsets, as one act of up to 10,000 keys, and has their consumers follow
     * ({@link Consumers#assign}). Blocks. It is what 222 does, and what lowers offsets beyond the end of their queue.
     */
    public void assign(Map<Key, Long> targets) throws ActFailed {
        throw new UnsupportedOperationException("not there yet");
    }

    /** All keys with an offset, each as of some moment during the call; in no order. Blocks no commit for long. */
    public void rows(Rows rows) {
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * The mark to be written into the broker's file, beside the table as {@link #rows} gave it after this call;
     * null while nothing is known of the cluster, in a file that must stay unmarked.
     */
    public Mark mark() {
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * This broker is the master from now on: claims the name and reads all keys again. Blocks, for
     * {@link Options#startMillis} at most; then it goes on behind, and until it is done nothing is sent.
     *
     * @throws StartRefused the name belongs to another holder: this broker must not serve as a master
     */
    public void promote() throws StartRefused {
        throw new UnsupportedOperationException("not there yet");
    }

    /** This broker is a slave from now on. Does not block. Nothing is lowered, no reset assigned from now on. */
    public void demote() {
        throw new UnsupportedOperationException("not there yet");
    }

    /** How things stand. Cheap enough for each brokerStatus; walks no table. */
    public Counters counters() {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Waits until nothing is marked that can be sent, for the time given at most; tells whether that is so. */
    public boolean drain(long time, TimeUnit unit) {
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * Sends what is marked, within the time given, answers who waits, and ends its threads. What is not sent by then
     * is in {@link #mark}, which still works, as {@link #query}, {@link #commit} and {@link #rows} do.
     */
    public void close(long time, TimeUnit unit) {
        throw new UnsupportedOperationException("not there yet");
    }
}
