package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.TestCluster;
import java.nio.file.Path;
import java.util.Collections;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** A file whose mark does not belong to what the cluster is now: another one, or an older state of this one. */
class FileFateTest {
    private static TestCluster nodes;
    private static Cluster cluster;

    @TempDir
    Path folder;

    private final Key key = new Key("orders", "billing", 3);

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

    /** The cluster is at 5, the file, of a broker that was stopped, at 50. */
    private Stand stopped(TestInfo test, String clusterId, long index) throws Exception {
        Stand s = new Stand(cluster, folder, test.getTestMethod().get().getName() + index, "C/1");
        s.start(Role.MASTER);
        assertEquals(Decision.DURABLE, s.ask(key, 5, "c1"));
        String id = clusterId.isEmpty() ? s.progress.counters().clusterId : clusterId;
        s.kill();
        s.write("\"offsetTable\":{\"orders@billing\":{3:50}},\"" + Mark.FIELD + "\":"
            + Mark.of(id, s.options.broker, index, Collections.emptyList()).json());
        assertThrows(StartRefused.class, () -> s.start(Role.MASTER));
        return s;
    }

    @Test
    void ignoreClosesEveryKeyBesideAMarkOfAnotherCluster(TestInfo test) throws Exception {
        try (Stand s = stopped(test, "00112233445566778899aabbccddeeff", 1)) {
            assertIgnored(s);
        }
    }

    @Test
    void ignoreClosesEveryKeyBesideAMarkOfLaterThanTheCluster(TestInfo test) throws Exception {
        try (Stand s = stopped(test, "", 1_000_000)) {
            assertIgnored(s);
        }
    }

    private void assertIgnored(Stand s) throws StartRefused {
        s.options.unmarked = Options.Unmarked.IGNORE;
        s.start(Role.MASTER);
        assertEquals(OptionalLong.of(5), s.progress.query(key));
        assertEquals(Decision.RESET, s.ask(key, 60, "c1"), "a live consumer has what was before");
        Stand.await("it is told so", () -> Long.valueOf(5).equals(s.assigned.get(key)));
    }

    @Test
    void mergeKeepsTheLargerOffset(TestInfo test) throws Exception {
        try (Stand s = stopped(test, "", 1_000_000)) {
            s.options.unmarked = Options.Unmarked.MERGE;
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(50), s.progress.query(key));
            assertEquals(Decision.DURABLE, s.ask(key, 60, "c1"));
            assertEquals(OptionalLong.of(60), s.storedOffset(key));
        }
    }

    /** The first start was killed before it wrote its file, whose mark says that an import is under way. */
    private Stand killedAfterItsImport(TestInfo test) throws Exception {
        Stand s = new Stand(cluster, folder, test.getTestMethod().get().getName(), "C/1");
        s.write("\"offsetTable\":{\"orders@billing\":{3:50}}");
        s.start(Role.MASTER);
        assertEquals(Decision.DURABLE, s.ask(key, 40, "c1"), "a consumer goes back");
        s.kill();
        assertTrue(OffsetFile.read(s.path).isImporting());
        return s;
    }

    @Test
    void whatWasLoweredAfterTheImportStaysSo(TestInfo test) throws Exception {
        try (Stand s = killedAfterItsImport(test)) {
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(40), s.progress.query(key));
        }
    }

    @Test
    void unlessToldToMerge(TestInfo test) throws Exception {
        try (Stand s = killedAfterItsImport(test)) {
            s.options.unmarked = Options.Unmarked.MERGE;
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(50), s.progress.query(key));
        }
    }

    @Test
    void aKeyThatTheClusterNeverHadIsNoLoss(TestInfo test) throws Exception {
        try (Stand s = new Stand(cluster, folder, test.getTestMethod().get().getName(), "C/1")) {
            s.start(Role.MASTER);
            Mark seen = s.progress.mark();
            s.kill();
            writeUnsent(s, seen, 5);
            StartRefused e = assertThrows(StartRefused.class, () -> s.start(Role.MASTER));
            assertTrue(e.getMessage().contains("has lost what it had"), e.getMessage());
            writeUnsent(s, seen, KeyProgress.NONE);
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(6), s.storedOffset(key));
        }
    }

    /** A log of which nothing is flushed. */
    private static final LogEnd UNSAFE = new LogEnd() {
        @Override
        public long end() {
            return 1;
        }

        @Override
        public long durable() {
            return 0;
        }

        @Override
        public void want(long position, boolean soon) {
        }

        @Override
        public void onAdvance(Runnable moved) {
        }
    };

    @Test
    void norIsOneWhoseValueDidNotOutlastTheStop(TestInfo test) throws Exception {
        try (Stand s = new Stand(cluster, folder, test.getTestMethod().get().getName(), "C/1")) {
            s.start(Role.MASTER, UNSAFE);
            assertTrue(s.progress.commit(Commit.of(key, 6, Origin.ONE_WAY, "c1", 1)));
            s.kill();
            s.persist();
            assertEquals(1, OffsetFile.read(s.path).rows().size());
            s.start(Role.MASTER);
            assertEquals(OptionalLong.empty(), s.progress.query(key), "it rested on what the log had lost");
            assertEquals(Decision.DURABLE, s.ask(key, 7, "c1"), "and is closed to nobody");
        }
    }

    /** A value that was not sent, where the cluster had this offset. */
    private void writeUnsent(Stand s, Mark seen, long acked) throws Exception {
        Mark.Unsent six = new Mark.Unsent(key, 6, seen.index, acked);
        s.write("\"offsetTable\":{\"orders@billing\":{3:6}},\"" + Mark.FIELD + "\":"
            + Mark.of(seen.clusterId, s.options.broker, seen.index, Collections.singletonList(six)).json());
    }
}
