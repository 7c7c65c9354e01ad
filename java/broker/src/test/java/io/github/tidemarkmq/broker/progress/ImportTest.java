package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.client.ActHeader;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.ClusterStatus;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyFilter;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TestCluster;
import io.github.tidemarkmq.client.TidemarkException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A first start on a file of 200 groups, cut down at each step of its import, and started again. */
class ImportTest {
    private static final int GROUPS = 200;
    private static final int QUEUES = 40;
    private static TestCluster nodes;
    private static Cluster cluster;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() throws Exception {
        nodes = TestCluster.start(1);
        cluster = nodes.client();
    }

    @AfterAll
    static void stop() throws Exception {
        cluster.close();
        nodes.close();
    }

    private static String table() {
        StringBuilder s = new StringBuilder("\"offsetTable\":{");
        for (int g = 0; g < GROUPS; g++) {
            s.append(g == 0 ? "" : ",").append("\"topic@组").append(g).append("\":{");
            for (int q = 0; q < QUEUES; q++) {
                s.append(q == 0 ? "" : ",").append(q).append(':').append(offset(g, q));
            }
            s.append('}');
        }
        return s.append('}').toString();
    }

    private static long offset(int group, int queue) {
        return 1_000L * group + queue;
    }

    /** The cluster as a process sees it that is killed at its n-th call of a name: before it is sent, or right after. */
    private static Cluster killedAt(String call, int n, boolean after) {
        int[] left = {n};
        boolean[] dead = {false};
        return (Cluster) Proxy.newProxyInstance(Cluster.class.getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, method, args) -> {
                boolean now = method.getName().equals(call) && --left[0] == 0;
                try {
                    if (!dead[0] && (!now || after)) {
                        Object answer = method.invoke(cluster, args);
                        if (!now) {
                            return answer;
                        }
                    }
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
                dead[0] = true;
                throw new TidemarkException(Code.CLOSED, "killed");
            });
    }

    private static long keys(String broker) throws Exception {
        return cluster.listKeys(KeyFilter.ALL.broker(broker), null, 10_000, ReadAt.LINEARIZABLE,
            Deadline.after(20, TimeUnit.SECONDS)).states().size();
    }

    @Test
    void allIsThereBeforeTheFirstAnswer() throws Exception {
        String[] calls = {"importBegin", "importChunk", "importChunk", "importChunk", "importChunk", "claimBroker"};
        int[] at = {1, 1, 2, 3, 4, 1};
        for (int i = 0; i < calls.length; i++) {
            for (boolean after : new boolean[] {false, true}) {
                String broker = "b-" + i + after;
                try (Stand killed = new Stand(killedAt(calls[i], at[i], after), folder, broker, "C/1");
                    Stand s = new Stand(cluster, folder, broker, "C/1")) {
                    s.write("\"other\":[1,{\"a\":null}]," + table());
                    assertThrows(StartRefused.class, () -> killed.start(Role.MASTER), calls[i]);
                    s.start(Role.MASTER);
                    check(s);
                    assertEquals(GROUPS * QUEUES, keys(broker));
                    String text = new String(Files.readAllBytes(s.path), StandardCharsets.UTF_8);
                    assertTrue(text.contains("\"other\":[1,{\"a\":null}]"), "what the file had stays in it");
                }
            }
        }
    }

    private static void check(Stand s) {
        for (int g = 0; g < GROUPS; g++) {
            for (int q = 0; q < QUEUES; q++) {
                Key k = new Key("topic", "组" + g, q);
                assertEquals(OptionalLong.of(offset(g, q)), s.progress.query(k));
            }
        }
    }

    @Test
    void aFileThatChangedInBetweenIsNotMixedIn() throws Exception {
        try (Stand killed = new Stand(killedAt("importChunk", 2, true), folder, "mixed", "C/1");
            Stand s = new Stand(cluster, folder, "mixed", "C/1")) {
            s.write(table());
            assertThrows(StartRefused.class, () -> killed.start(Role.MASTER));
            long begun = keys("mixed");
            assertTrue(begun > 0 && begun < GROUPS * QUEUES, "half way: " + begun);
            s.write(table()); // a plain broker ran in between, and dropped the mark
            StartRefused e = assertThrows(StartRefused.class, () -> s.start(Role.MASTER));
            assertTrue(e.getMessage().contains("tidemarkUnmarkedFile=merge"), e.getMessage());
            s.options.unmarked = Options.Unmarked.MERGE;
            s.start(Role.MASTER);
            check(s);
            assertTrue(s.progress.drain(30, TimeUnit.SECONDS));
            assertEquals(GROUPS * QUEUES, keys("mixed"));
        } finally {
            abort();
        }
    }

    /** A broker that started alone writes its file on a timer, also while the cluster is back and the import begins. */
    @Test
    void nothingIsWrittenOverTheIdOfAnImportAfterAStartAlone() throws Exception {
        AtomicBoolean away = new AtomicBoolean(true);
        AtomicBoolean failed = new AtomicBoolean();
        List<String> atImport = new CopyOnWriteArrayList<>();
        Runnable[] timer = new Runnable[1];
        Cluster late = (Cluster) Proxy.newProxyInstance(Cluster.class.getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, method, args) -> {
                if (away.get()) {
                    throw new TidemarkException(Code.NO_LEADER, "away");
                }
                if (method.getName().equals("importChunk")) {
                    timer[0].run();
                    if (!failed.getAndSet(true)) {
                        throw new TidemarkException(Code.DENIED, "not yet");
                    }
                }
                try {
                    return method.invoke(cluster, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
        try (Stand s = new Stand(late, folder, "alone", "C/1")) {
            s.options.startAlone = true;
            s.options.startMillis = 200;
            s.options.unmarked = Options.Unmarked.MERGE;
            s.write(table());
            timer[0] = () -> {
                try {
                    s.progress.persist(mark -> atImport.add("written"));
                    atImport.add(OffsetFile.read(s.path).mark().importId);
                } catch (Exception e) {
                    atImport.add(e.toString());
                }
            };
            s.start(Role.MASTER);
            s.progress.persist(mark -> s.write(table() + ",\"" + Mark.FIELD + "\":" + mark.json()));
            assertTrue(OffsetFile.read(s.path).mark().alone);
            away.set(false);
            Stand.await("the import is done", () -> s.progress.counters().clusterRead);
            assertTrue(atImport.size() > 1 && atImport.get(0).length() == 32, atImport.toString());
            assertEquals(1, new HashSet<>(atImport).size(), "one import, and nothing written: " + atImport);
            check(s);
        }
    }

    /** Another import waits for the one that nobody goes on with: the operator ends it. */
    private static void abort() throws Exception {
        Deadline d = Deadline.after(20, TimeUnit.SECONDS);
        ClusterStatus status = cluster.status(d);
        if (status.running() != null) {
            Meta now = cluster.listKeys(KeyFilter.ALL, null, 1, ReadAt.LINEARIZABLE, d).meta();
            cluster.importAbort(new ActHeader(status.running().id(), now.index(), now.clusterId(), 0), d);
        }
    }
}
