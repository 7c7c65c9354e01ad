package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A Progress with what stands around it in a broker: consumers that note their resets, a file, a log of lines. */
final class Stand implements Consumers, Log, AutoCloseable {
    final Path folder;
    final Path path;
    final Cluster cluster;
    final Options options;
    final Map<Key, Long> assigned = new ConcurrentHashMap<>();
    final List<String> lines = new CopyOnWriteArrayList<>();
    Progress progress;

    Stand(Cluster cluster, Path folder, String broker, String holder) {
        this.cluster = cluster;
        this.folder = folder;
        this.path = folder.resolve("consumerOffset.json");
        this.options = new Options(broker, () -> holder);
        options.startMillis = 20_000;
    }

    /** Starts it, the first time or again, from its file. */
    Progress start(Role role) throws StartRefused {
        return start(role, LogEnd.NONE);
    }

    /** Starts it as a slave whose master has read the cluster. */
    Progress follow() throws StartRefused {
        start(Role.SLAVE);
        progress.masterHasRead(progress.counters().clusterId);
        return progress;
    }

    Progress start(Role role, LogEnd log) throws StartRefused {
        progress = new Progress(options, cluster, log, this, this);
        progress.start(role, OffsetFile.read(path));
        return progress;
    }

    /** Writes the file as a broker of ours does. */
    void persist() throws IOException {
        Mark mark = progress.mark();
        write(table() + (mark == null ? "" : ",\"" + Mark.FIELD + "\":" + mark.json()));
    }

    /** Writes the file as a plain broker does, which drops what it does not know. */
    void persistPlain() throws IOException {
        write(table());
    }

    private String table() {
        Map<String, StringBuilder> groups = new ConcurrentHashMap<>();
        progress.rows((t, g, q, o) -> groups.computeIfAbsent(t + "@" + g, k -> new StringBuilder())
            .append(groups.get(t + "@" + g) == null ? "" : "").append(q).append(':').append(o).append(','));
        StringBuilder s = new StringBuilder("\"offsetTable\":{");
        groups.forEach((k, v) -> {
            Mark.quote(s, k);
            s.append(":{").append(v).append("},");
        });
        return s.append('}').toString();
    }

    void write(String members) throws IOException {
        Files.createDirectories(folder);
        Files.write(path, ("{" + members + "}").getBytes(StandardCharsets.UTF_8));
    }

    boolean commit(Key key, long offset, String client) {
        return progress.commit(Commit.of(key, offset, Origin.ONE_WAY, client, 0));
    }

    /** Commits, and waits for the decision. */
    Decided.Decision ask(Key key, long offset, String client) {
        Late<Decided.Decision> d = new Late<>();
        progress.commit(Commit.twoWay(key, offset, client, 0, d::set));
        return d.get();
    }

    /** The key as the cluster has it. */
    KeyState stored(Key key) throws TidemarkException {
        return cluster.fetch(Collections.singletonList(OffsetKeys.of(key, options.broker)), ReadAt.LINEARIZABLE,
            Deadline.after(20, TimeUnit.SECONDS)).states().get(0);
    }

    OptionalLong storedOffset(Key key) throws TidemarkException {
        KeyState s = stored(key);
        return s.exists() ? OptionalLong.of(s.position().offset()) : OptionalLong.empty();
    }

    /** Waits until something holds; fails after 30 s. */
    static void await(String what, BooleanSupplier holds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within 30 s: " + what);
            }
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public void assign(Key key, long before, long offset) {
        assigned.put(key, offset);
    }

    @Override
    public void release(Key key) {
        assigned.remove(key);
    }

    @Override
    public boolean neverPulls(Key key) {
        return key.group().endsWith("@broadcast");
    }

    @Override
    public void info(String line) {
        lines.add(line);
    }

    @Override
    public void warn(String line) {
        lines.add("warn: " + line);
    }

    @Override
    public void error(String line, Throwable cause) {
        lines.add("error: " + line);
    }

    /** As kill -9 leaves it: nothing more is sent or written. */
    void kill() {
        progress.close(0, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        if (progress != null) {
            progress.close(0, TimeUnit.MILLISECONDS);
        }
    }

    /** A value that comes later. */
    static final class Late<T> {
        private T value;

        synchronized void set(T v) {
            if (value != null) {
                throw new AssertionError("decided twice: " + value + ", " + v);
            }
            value = v;
            notifyAll();
        }

        synchronized T get() {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            try {
                while (value == null && end - System.nanoTime() > 0) {
                    wait(1_000);
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            if (value == null) {
                throw new AssertionError("nothing within 30 s");
            }
            return value;
        }
    }
}
