package io.github.tidemarkmq.broker.manager;

import io.github.tidemarkmq.broker.progress.ActFailed;
import io.github.tidemarkmq.broker.progress.Commit;
import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.LogEnd;
import io.github.tidemarkmq.broker.progress.Mark;
import io.github.tidemarkmq.broker.progress.OffsetFile;
import io.github.tidemarkmq.broker.progress.Origin;
import io.github.tidemarkmq.broker.progress.Progress;
import io.github.tidemarkmq.broker.progress.Role;
import io.github.tidemarkmq.broker.progress.StartRefused;
import io.github.tidemarkmq.broker.version.Release;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.offset.ConsumerOffsetManager;

/**
 * The broker's offset manager, over {@link Progress}. What the broker's own groups have (CID_RMQ_SYS_) stays in its
 * table and file, as in the broker. Every method may be called from any thread.
 *
 * <p>It is compiled against 5.5.0 and used by 4.9.7 too: what calls the superclass with something that 4.9.7 does not
 * have is not called there. It has no public getter of its own, since the broker's JSON would show it.
 */
public final class ClusterOffsetManager extends ConsumerOffsetManager {
    private static final String AT = TOPIC_GROUP_SEPARATOR;
    /** The client that BroadcastOffsetManager gives. */
    private static final String BROADCAST = "BroadcastOffset";
    /** Commits between two versions of the table: BrokerConfig.consumerOffsetUpdateVersionStep. */
    private static final int VERSION_STEP = 500;

    private final transient Parts parts;
    private final transient OwnOffsets own = new OwnOffsets();
    private final transient AtomicLong commits = new AtomicLong();
    private transient volatile boolean loaded;

    /** What the manager works with. A plain holder; all but guard are required. */
    public static final class Parts {
        public Release release;
        public BrokerController controller;
        public Progress progress;
        public LogEnd logEnd;
        public Resets resets;
        public Role role;
        public Log log;
        /** Null unless guard mode is on. */
        public Guard guard;
        /** Whether a commit is ahead of a slave's log, which must not send what it does not hold. */
        public Predicate<Commit> ahead;
    }

    /** A manager; nothing is read before {@link #load}. */
    public ClusterOffsetManager(Parts parts) {
        super(parts.controller);
        this.parts = parts;
        this.offsetTable = own;
    }

    /**
     * Reads the file and the cluster; when it returns, the broker may serve.
     *
     * @throws StartEnded the broker must not serve
     */
    @Override
    public boolean load() {
        try {
            Path path = Paths.get(configFilePath());
            OffsetFile file = OffsetFile.read(path);
            file.own((topic, group, queue, offset) -> own.commit(topic + AT + group, queue, offset));
            parts.release.readDataVersion(this, path);
            parts.progress.start(parts.role, file);
            loaded = true;
            return true;
        } catch (StartRefused e) {
            throw new StartEnded(e);
        }
    }

    @Override
    public void commitOffset(String client, String group, String topic, int queue, long offset) {
        if (commits.incrementAndGet() % VERSION_STEP == 0) {
            parts.release.nextDataVersion(parts.controller, this);
        }
        if (Key.ofBroker(group)) {
            own.commit(topic + AT + group, queue, offset);
        } else if (offset >= 0) {
            Caller caller = Caller.current();
            commit(caller, commitOf(caller, new Key(topic, group, queue), client, offset));
        }
    }

    private Commit commitOf(Caller caller, Key key, String client, long offset) {
        long position = parts.logEnd.end();
        if (caller.isOperator()) {
            return Commit.operators(key, offset, client, position, caller.decided());
        }
        if (caller.origin() == Origin.TWO_WAY) {
            return Commit.twoWay(key, offset, client, position, caller.decided());
        }
        Origin origin = caller.origin();
        if (origin == null) {
            origin = BROADCAST.equals(client) ? Origin.BROKER : Origin.POP;
        }
        return Commit.of(key, offset, origin, client, position);
    }

    private void commit(Caller caller, Commit commit) {
        if (parts.guard != null && parts.guard.refuses(commit, parts.progress.query(commit.key()))) {
            return;
        }
        caller.setHandedOn();
        if (parts.ahead.test(commit)) {
            if (commit.origin() == Origin.TWO_WAY) {
                caller.decided().decided(Decision.AHEAD_OF_LOG);
            }
            return;
        }
        if (parts.resets.admits(commit)) {
            parts.progress.commit(commit);
        } else if (commit.origin() == Origin.TWO_WAY) {
            caller.decided().decided(Decision.RESET);
        }
    }

    @Override
    public long queryOffset(String group, String topic, int queue) {
        if (group == null || topic == null) {
            return -1; // a 14 may lack them; RocketMQ's own table has no such key either
        }
        if (Key.ofBroker(group)) {
            return own.query(topic + AT + group, queue);
        }
        Key key = new Key(topic, group, queue);
        OptionalLong offset = parts.progress.query(key);
        Caller.current().answered(key, offset);
        return offset.orElse(-1);
    }

    @Override
    public Map<Integer, Long> queryOffset(String group, String topic) {
        Map<Integer, Long> queues = queues(topic, group);
        return queues.isEmpty() ? null : queues;
    }

    private Map<Integer, Long> queues(String topic, String group) {
        if (Key.ofBroker(group)) {
            Map<Integer, Long> queues = own.get(topic + AT + group);
            return queues == null ? Collections.emptyMap() : queues;
        }
        return parts.progress.queues(topic, group);
    }

    @Override
    public Set<String> whichTopicByConsumer(String group) {
        return Key.ofBroker(group) ? own.topics(group) : plain(parts.progress.topics(group));
    }

    @Override
    public Set<String> whichGroupByTopic(String topic) {
        Set<String> groups = plain(parts.progress.groups(topic));
        groups.addAll(own.groups(topic));
        return groups;
    }

    /** The broker leaves out names with an @, those of broadcast groups among them, in all of its lists. */
    private static Set<String> plain(Set<String> names) {
        Set<String> plain = new HashSet<>(names);
        plain.removeIf(n -> n.contains(AT));
        return plain;
    }

    @Override
    public Map<String, Set<String>> getGroupTopicMap() {
        Map<String, Set<String>> topics = new HashMap<>();
        parts.progress.rows((topic, group, queue, offset) -> {
            if (!topic.contains(AT) && !group.contains(AT)) {
                topics.computeIfAbsent(group, g -> new HashSet<>()).add(topic);
            }
        });
        return topics;
    }

    /** For code 308. The broker's own deletes what the filtered groups have. */
    @Override
    public Map<Integer, Long> queryMinOffsetInAllGroup(String topic, String filterGroups) {
        Set<String> filtered = filterGroups == null ? Collections.emptySet()
            : new HashSet<>(Arrays.asList(filterGroups.split(",")));
        Set<String> groups = new HashSet<>(parts.progress.groups(topic));
        groups.addAll(own.groups(topic));
        Map<Integer, Long> least = new HashMap<>();
        for (String group : groups) {
            if (!filtered.contains(group.split(AT)[0])) {
                queues(topic, group).forEach((queue, offset) -> {
                    if (offset >= parts.controller.getMessageStore().getMinOffsetInQueue(topic, queue)) {
                        least.merge(queue, offset, Math::min);
                    }
                });
            }
        }
        return least;
    }

    /** For code 222, whose processor of ours collects; else at once. */
    @Override
    public void assignResetOffset(String topic, String group, int queue, long offset) {
        if (topic == null || topic.isEmpty() || group == null || group.isEmpty() || queue < 0 || offset < 0) {
            return;
        }
        Key key = new Key(topic, group, queue);
        if (Key.ofBroker(group)) {
            own.commit(topic + AT + group, queue, offset);
        } else if (Caller.current().collects()) {
            Caller.current().resets().put(key, offset);
        } else {
            act(() -> parts.progress.assign(Collections.singletonMap(key, offset)));
        }
    }

    @Override
    public boolean hasOffsetReset(String topic, String group, int queue) {
        return parts.resets.waits(new Key(topic, group, queue));
    }

    @Override
    public Long queryThenEraseResetOffset(String topic, String group, Integer queue) {
        Caller caller = Caller.current();
        return caller.isEarly() ? null : parts.resets.take(new Key(topic, group, queue), caller.client());
    }

    @Override
    public void commitPullOffset(String client, String group, String topic, int queue, long offset) {
        if (!Key.ofBroker(group)) {
            parts.resets.pulled(new Key(topic, group, queue), client, Caller.current().from(), offset);
        }
        super.commitPullOffset(client, group, topic, queue, offset);
    }

    /** For code 314, whose processor of ours collects; else at once. */
    @Override
    public void cloneOffset(String from, String to, String topic) {
        if (Caller.current().collects()) {
            Caller.current().copies().add(new Caller.Copy(from, to, topic));
        } else {
            act(() -> parts.progress.cloneGroup(from, to, topic));
        }
    }

    /** For code 207, whose processor of ours has removed them from the cluster; else at once. */
    @Override
    public void removeOffset(String group) {
        super.removeOffset(group); // the own table, and where pulls are
        if (!Key.ofBroker(group) && !Caller.current().isRemoved()) {
            act(() -> parts.progress.removeGroup(group));
        }
    }

    @Override
    public void cleanOffset(String group) {
        removeOffset(group);
    }

    /** For code 215 of a 5.x, likewise. */
    @Override
    public void cleanOffsetByTopic(String topic) {
        whichGroupByTopic(topic).forEach(group -> clearPullOffset(group, topic));
        super.cleanOffsetByTopic(topic);
        if (!Caller.current().isRemoved()) {
            act(() -> parts.progress.removeTopic(topic));
        }
    }

    /** The broker never calls it; an offset that nobody consumes is the cluster's to expire. */
    @Override
    public void scanUnsubscribedTopic() {
    }

    private interface Act {
        void run() throws ActFailed;
    }

    /** Where the broker asks for an act by itself, its caller gets the failure as an exception. */
    private static void act(Act act) {
        try {
            act.run();
        } catch (ActFailed e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /** What another broker's table is put into: it keeps only the broker's own groups. */
    @Override
    public ConcurrentMap<String, ConcurrentMap<Integer, Long>> getOffsetTable() {
        return own;
    }

    @Override
    public void setOffsetTable(ConcurrentMap<String, ConcurrentMap<Integer, Long>> table) {
        if (table != own) {
            own.clear();
            own.putAll(table);
        }
    }

    /** The answer to code 43. */
    @Override
    public String encode() {
        return text(null);
    }

    @Override
    public String encode(boolean prettyFormat) {
        return text(null);
    }

    private String text(Mark mark) {
        OffsetText text = new OffsetText();
        parts.progress.rows(text);
        text.rows(own);
        return text.json(parts.release.dataVersion(this), mark);
    }

    /** The file is read by {@link #load} alone. */
    @Override
    public void decode(String json) {
    }

    /** The start ends all the same: from now on the file stays as it was, and none is made on a wrong disk. */
    public synchronized void leaveFile() {
        loaded = false;
    }

    /**
     * Writes the file, with the mark. Does nothing before the start has read what is there, nor while the file holds
     * what nobody else has.
     */
    @Override
    public synchronized void persist() {
        if (!loaded) {
            return;
        }
        Path path = Paths.get(configFilePath());
        try {
            // The mark comes before the rows: what is acknowledged meanwhile is then in both.
            parts.progress.persist(mark -> FileReplacement.replace(path, text(mark)));
        } catch (IOException e) {
            parts.log.error("Writing " + path + " failed: what the cluster does not have yet would be lost"
                + " with this process. See whether the disk is full or read-only.", e);
        }
    }
}
