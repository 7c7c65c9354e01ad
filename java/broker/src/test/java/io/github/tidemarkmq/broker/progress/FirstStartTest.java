package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.TestCluster;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A slave that has the jar before its master's first import, as its master does or in the middle of it. */
class FirstStartTest {
    private static final String FILE = "\"offsetTable\":{\"orders@billing\":{3:9,4:7}}";

    @TempDir
    Path folder;

    private final Key key = new Key("orders", "billing", 3);
    private final Key unknown = new Key("orders", "search", 0);

    private Stand stand(Cluster cluster, String name) throws Exception {
        Stand s = new Stand(cluster, Files.createDirectory(folder.resolve(name)), "b", "C/1");
        s.options.twoWayMillis = 1_000;
        s.write(FILE);
        return s;
    }

    /** Reads as a 14 does; whether nothing could be said for certain. */
    private static boolean isCertain(Stand s, Key key) {
        Stand.Late<Boolean> certain = new Stand.Late<>();
        s.progress.read(key, "c1", (offset, sure) -> certain.set(sure));
        return certain.get();
    }

    @Test
    void aSlaveWaitsForItsMastersImportAndMayThenBecomeTheMaster() throws Exception {
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client();
            Stand slave = stand(cluster, "slave"); Stand master = stand(cluster, "master")) {
            slave.start(Role.SLAVE);
            assertFalse(slave.progress.isSettled());
            assertFalse(isCertain(slave, unknown), "its master has not brought in what there was");
            assertEquals(Decision.NOT_YET, slave.ask(key, 12, "c1"), "it sends nothing");
            String id = cluster.status(Deadline.after(20, TimeUnit.SECONDS)).meta().clusterId();
            slave.progress.masterHasRead("00112233445566778899aabbccddeeff");
            assertFalse(slave.progress.isSettled(), "another cluster");
            master.start(Role.MASTER);
            assertEquals(OptionalLong.of(9), master.storedOffset(key), "and nothing of the slave's was in its way");
            slave.progress.masterHasRead(id);
            assertTrue(slave.progress.isSettled());
            assertTrue(isCertain(slave, unknown));
            assertEquals(id, slave.progress.mark().clusterId, "its file may be written");
            Stand.await("it follows", () -> slave.progress.query(key).equals(OptionalLong.of(9)));
            slave.progress.promote(0);
            assertTrue(slave.progress.counters().clusterRead);
            assertEquals(OptionalLong.of(9), slave.progress.query(key));
            assertEquals(Decision.DURABLE, slave.ask(new Key("orders", "billing", 5), 1, "c1"));
        }
    }

    @Test
    void aSlaveThatStartsInTheMiddleOfTheImportWaitsToo() throws Exception {
        AtomicReference<Runnable> middle = new AtomicReference<>();
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client();
            Stand slave = stand(cluster, "slave"); Stand late = stand(cluster, "late");
            Stand master = stand(cutAt(cluster, middle), "master")) {
            StringBuilder rows = new StringBuilder();
            for (int q = 0; q < 3_000; q++) {
                rows.append(q == 0 ? "" : ",").append(q).append(":9");
            }
            master.write("\"offsetTable\":{\"orders@billing\":{" + rows + "}}");
            middle.set(() -> start(slave));
            master.start(Role.MASTER);
            assertTrue(slave.progress.counters().keys > 0, "some of them were there");
            assertFalse(slave.progress.isSettled());
            start(late);
            assertTrue(late.progress.isSettled(), "the import is over");
        }
    }

    @Test
    void aSlaveWithoutAFileWaitsToo() throws Exception {
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client();
            Stand slave = new Stand(cluster, Files.createDirectory(folder.resolve("slave")), "b", "C/1");
            Stand master = stand(cluster, "master")) {
            slave.options.twoWayMillis = 1_000;
            slave.start(Role.SLAVE);
            assertFalse(slave.progress.isSettled());
            assertFalse(isCertain(slave, key), "its master's file may have it");
            assertEquals(Decision.NOT_YET, slave.ask(key, 8, "c1"));
            master.start(Role.MASTER);
            assertEquals(OptionalLong.of(9), master.storedOffset(key));
            slave.progress.masterHasRead(master.progress.counters().clusterId);
            assertTrue(isCertain(slave, unknown));
            Stand.await("it follows", () -> slave.progress.query(key).equals(OptionalLong.of(9)));
        }
    }

    @Test
    void aReadThatBeganBeforeTheImportWasOverIsNotCertain() throws Exception {
        AtomicReference<Runnable> read = new AtomicReference<>();
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client();
            Stand slave = stand(behind(cluster, read), "slave")) {
            slave.start(Role.SLAVE);
            read.set(() -> slave.progress.masterHasRead(slave.progress.counters().clusterId));
            assertFalse(isCertain(slave, unknown));
            assertTrue(slave.progress.isSettled());
            assertTrue(isCertain(slave, unknown));
        }
    }

    /** Runs something once keys have been read, and before that is told; once. */
    private static Cluster behind(Cluster cluster, AtomicReference<Runnable> read) {
        return (Cluster) Proxy.newProxyInstance(FirstStartTest.class.getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, method, args) -> {
                try {
                    Object answer = method.invoke(cluster, args);
                    if (method.getName().equals("fetch") && read.get() != null) {
                        read.getAndSet(null).run();
                    }
                    return answer;
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }

    private static void start(Stand slave) {
        try {
            slave.start(Role.SLAVE);
        } catch (StartRefused e) {
            throw new AssertionError(e);
        }
    }

    /** Runs something before the second chunk of an import, once. */
    private static Cluster cutAt(Cluster cluster, AtomicReference<Runnable> middle) {
        return (Cluster) Proxy.newProxyInstance(FirstStartTest.class.getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, method, args) -> {
                if (method.getName().equals("importChunk") && (int) args[1] == 1 && middle.get() != null) {
                    middle.getAndSet(null).run();
                }
                try {
                    return method.invoke(cluster, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }
}
