package io.github.tidemarkmq.broker.manager;

import io.github.tidemarkmq.broker.progress.Decided;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Origin;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * On whose behalf the broker calls its offset manager. The broker does not say that, so a processor of ours, which
 * knows the request, sets it for the thread while the broker's own processor runs. A caller is used by one thread, and
 * for one request.
 */
public final class Caller {
    private static final ThreadLocal<Caller> CURRENT = new ThreadLocal<>();
    /** A thread of the broker's own: POP's merges, the broadcast offsets, and whatever else asks unasked. */
    private static final Caller NOBODY = new Caller(null, null, null);

    /** A copy of offsets that the broker would have made. Equal to one of the same groups and topic. */
    public static final class Copy {
        public final String from;
        public final String to;
        public final String topic;

        Copy(String from, String to, String topic) {
            this.from = from;
            this.to = to;
            this.topic = topic;
        }

        @Override
        public boolean equals(Object o) {
            return o instanceof Copy && from.equals(((Copy) o).from) && to.equals(((Copy) o).to)
                && Objects.equals(topic, ((Copy) o).topic);
        }

        @Override
        public int hashCode() {
            return Objects.hash(from, to, topic);
        }
    }

    private enum Acts { DONE_BY_BROKER, COLLECTED, REMOVED }

    private final Origin origin;
    private final String client;
    private final Decided decided;
    private Acts acts = Acts.DONE_BY_BROKER;
    private long from = -1;
    private boolean early;
    private boolean operators;
    private boolean handedOn;
    private Key asked;
    private OptionalLong answer = OptionalLong.empty();
    private Map<Key, Long> resets = Collections.emptyMap();
    private Set<Copy> copies = Collections.emptySet();

    private Caller(Origin origin, String client, Decided decided) {
        this.origin = origin;
        this.client = client;
        this.decided = decided;
    }

    /** Code 15 that nobody waits for, or 14. */
    public static Caller oneWay(String client) {
        return new Caller(Origin.ONE_WAY, client, null);
    }

    /** Code 15 whose sender waits: decided is called once if {@link #handedOn} is true afterwards, else never. */
    public static Caller twoWay(String client, Decided decided) {
        return new Caller(Origin.TWO_WAY, client, decided);
    }

    /** The same of a connection that is no consumer's: an operator's tool says it. */
    public static Caller operator(String client, Decided decided) {
        Caller c = twoWay(client, decided);
        c.operators = true;
        return c;
    }

    /**
     * A pull, with or without a commit on its back.
     *
     * @param from the offset it pulls at; -1 if it names none
     * @param early commits that came before it on its connection have not been taken yet
     */
    public static Caller pull(String client, long from, boolean early) {
        Caller c = new Caller(Origin.PULL, client, null);
        c.from = from;
        c.early = early;
        return c;
    }

    /** Resets and copies of groups are collected instead of done: who asked does them as one act. */
    public static Caller collecting() {
        Caller c = new Caller(null, null, null);
        c.acts = Acts.COLLECTED;
        c.resets = new LinkedHashMap<>();
        c.copies = new LinkedHashSet<>();
        return c;
    }

    /** The offsets that the broker is about to remove have been removed from the cluster already. */
    public static Caller removed() {
        Caller c = new Caller(null, null, null);
        c.acts = Acts.REMOVED;
        return c;
    }

    /** Runs what the broker does on behalf of this caller. */
    public <T> T in(Callable<T> brokers) throws Exception {
        CURRENT.set(this);
        try {
            return brokers.call();
        } finally {
            CURRENT.remove();
        }
    }

    /** Who is asking on this thread; never null. */
    public static Caller current() {
        Caller c = CURRENT.get();
        return c == null ? NOBODY : c;
    }

    /** Where a commit comes from; null for a thread of the broker's own. */
    Origin origin() {
        return origin;
    }

    /** The connection's address, as the broker has it in its commits; null for a thread of the broker's own. */
    String client() {
        return client;
    }

    /** The offset a pull is at; -1 for anything else. */
    long from() {
        return from;
    }

    /**
     * A pull that commits of its connection still wait before. A reset is not for it: one of them may have just the
     * reset's value, and would count as following it (docs/decisions/0013-slaves-of-a-broker.md). The next pull takes
     * it.
     */
    public boolean isEarly() {
        return early;
    }

    /** Whether an operator's tool says it. */
    public boolean isOperator() {
        return operators;
    }

    Decided decided() {
        return decided;
    }

    boolean collects() {
        return acts == Acts.COLLECTED;
    }

    boolean isRemoved() {
        return acts == Acts.REMOVED;
    }

    void answered(Key key, OptionalLong offset) {
        if (this != NOBODY) {
            asked = key;
            answer = offset;
        }
    }

    /** The key whose offset was last asked for; null for none. */
    public Key asked() {
        return asked;
    }

    /** What was answered then. */
    public OptionalLong answer() {
        return answer;
    }

    void setHandedOn() {
        handedOn = true;
    }

    /** Whether a two-way commit has been handed on, so that its answer comes through Decided. */
    public boolean handedOn() {
        return handedOn;
    }

    /** What would have been reset, by key, in the order of the broker's calls. */
    public Map<Key, Long> resets() {
        return resets;
    }

    /** What would have been copied, each once, in the order of the broker's calls. */
    public Set<Copy> copies() {
        return copies;
    }
}
