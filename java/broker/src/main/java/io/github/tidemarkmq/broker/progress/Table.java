package io.github.tidemarkmq.broker.progress;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The keys of one broker, by topic and group, then by queue. Keys come and go under the lock of their names, which
 * leave with the last one; no other lock spans more than one key.
 */
final class Table {
    private final Map<Key, Queues> byNames = new ConcurrentHashMap<>();
    private final Tally tally;

    Table(Tally tally) {
        this.tally = tally;
    }

    private static Key names(Key key) {
        return new Key(key.topic(), key.group(), 0);
    }

    /** The queues of a topic and a group; null if there are none. */
    Queues queues(String topic, String group) {
        return byNames.get(new Key(topic, group, 0));
    }

    /** A key; null if it is not there. */
    KeyProgress get(Key key) {
        Queues q = queues(key.topic(), key.group());
        return q == null ? null : q.byId.get(key.queue());
    }

    /** A key, made if need be. */
    private KeyProgress at(Key key) {
        KeyProgress p = get(key);
        return p != null ? p : make(key);
    }

    private KeyProgress make(Key key) {
        KeyProgress[] made = new KeyProgress[1];
        byNames.compute(names(key), (names, there) -> {
            Queues q = there == null ? new Queues(names.topic(), names.group()) : there;
            made[0] = q.byId.computeIfAbsent(key.queue(), id -> {
                tally.keys.increment();
                return new KeyProgress(q, id);
            });
            return q;
        });
        return made[0];
    }

    /** Does something with a key, made if need be, under its monitor; never with one that has left the table. */
    <T> T with(Key key, Function<KeyProgress, T> use) {
        for (;;) {
            KeyProgress p = at(key);
            synchronized (p) {
                if (p.phase != KeyProgress.Phase.DEAD) {
                    return use.apply(p);
                }
            }
            remove(p);
        }
    }

    /** Takes a key out that nobody may use any more: see {@link KeyProgress#bury}. */
    void remove(KeyProgress p) {
        byNames.computeIfPresent(names(p.key()), (names, q) -> {
            if (q.byId.remove(p.queue, p)) {
                tally.keys.decrement();
            }
            return q.byId.isEmpty() ? null : q;
        });
    }

    boolean isEmpty() {
        return byNames.isEmpty();
    }

    void forEach(Consumer<KeyProgress> each) {
        for (Queues q : byNames.values()) {
            q.byId.values().forEach(each);
        }
    }

    void forEachQueues(Consumer<Queues> each) {
        byNames.values().forEach(each);
    }

    List<KeyProgress> select(Predicate<Queues> names) {
        List<KeyProgress> out = new ArrayList<>();
        for (Queues q : byNames.values()) {
            if (names.test(q)) {
                out.addAll(q.byId.values());
            }
        }
        return out;
    }
}
