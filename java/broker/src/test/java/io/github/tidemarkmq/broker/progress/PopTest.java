package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.TestCluster;
import java.nio.file.Path;
import java.util.Collections;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** POP at a slave that acts for its master. It asks the table alone, commits without a connection, and is told nothing. */
class PopTest {
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

    private static boolean pop(Stand s, Key key, long offset) {
        return s.progress.commit(Commit.of(key, offset, Origin.POP, "PopBufferMergeService", 0));
    }

    @Test
    void popFollowsAResetAtASlaveByBeginningAnew(TestInfo test) throws Exception {
        String broker = test.getTestMethod().get().getName();
        Key idle = new Key("orders", "billing", 4);
        try (Stand master = new Stand(cluster, folder.resolve("master"), broker, "C/1");
            Stand slave = new Stand(cluster, folder.resolve("slave"), broker, "C/1")) {
            master.start(Role.MASTER);
            assertEquals(Decision.DURABLE, master.ask(key, 100, "c1"));
            assertEquals(Decision.DURABLE, master.ask(idle, 100, "c1"));
            slave.start(Role.SLAVE);
            for (Key k : new Key[] {key, idle}) {
                master.progress.assign(Collections.singletonMap(k, 10L));
                Stand.await("the slave follows", () -> slave.progress.query(k).equals(OptionalLong.of(10)));
            }
            assertFalse(pop(slave, key, 132), "what was under way before the reset");
            assertFalse(pop(slave, key, 164));
            assertTrue(pop(slave, key, 42), "it begins anew at the table's");
            assertTrue(pop(slave, key, 74));
            assertFalse(pop(slave, idle, 42), "that may have been under way, too");
            assertTrue(pop(slave, idle, 42), "the same batch again");
            assertTrue(slave.progress.drain(20, TimeUnit.SECONDS));
            assertEquals(OptionalLong.of(74), slave.storedOffset(key));
            assertEquals(OptionalLong.of(42), slave.storedOffset(idle));
            assertFalse(slave.commit(key, 80, "c1"), "it was opened to POP alone");
        }
    }
}
