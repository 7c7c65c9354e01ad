package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.TestCluster;
import io.github.tidemarkmq.client.TidemarkException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Collections;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
    private final AtomicBoolean blind = new AtomicBoolean();
    private final AtomicBoolean deaf = new AtomicBoolean();

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

    /** A slave that does not notice what changes, so that its table lacks what its master makes. */
    private Stand blind(String broker) {
        return new Stand((Cluster) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, method, args) -> {
                String name = method.getName();
                if (blind.get() && name.equals("listKeys") || deaf.get() && name.equals("fetch")) {
                    throw new TidemarkException(Code.UNREACHABLE, "as the test wants it");
                }
                try {
                    return method.invoke(cluster, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            }), folder.resolve("slave"), broker, "C/1");
    }

    @Test
    void whatASlaveHasNotReadStaysWhereItIs(TestInfo test) throws Exception {
        String broker = test.getTestMethod().get().getName();
        Key other = new Key("orders", "billing", 4);
        try (Stand master = new Stand(cluster, folder.resolve("master"), broker, "C/1"); Stand slave = blind(broker)) {
            master.start(Role.MASTER);
            slave.follow();
            blind.set(true);
            assertEquals(Decision.DURABLE, master.ask(key, 50, "c1"));
            assertEquals(Decision.DURABLE, master.ask(other, 50, "c1"));
            assertTrue(pop(slave, key, 999), "the table has none: POP begins at the end");
            Stand.await("the key is read", () -> slave.progress.query(key).equals(OptionalLong.of(50)));
            assertFalse(pop(slave, key, 1_000), "what it has under way rests on that end");
            assertFalse(pop(slave, key, 1_001));
            assertTrue(pop(slave, key, 82), "it begins anew at the table's");
            assertEquals(Decision.DURABLE, slave.ask(other, 60, "c1"), "a consumer has read it, here or elsewhere");
            assertTrue(slave.progress.drain(20, TimeUnit.SECONDS));
            assertEquals(OptionalLong.of(82), slave.storedOffset(key));
            assertEquals(OptionalLong.of(60), slave.storedOffset(other));
        }
    }

    @Test
    void whatAPromotedMasterHasNotReadStaysWhereItIs(TestInfo test) throws Exception {
        String broker = test.getTestMethod().get().getName();
        Key first = new Key("orders", "billing", 4);
        try (Stand master = new Stand(cluster, folder.resolve("master"), broker, "C/1"); Stand slave = blind(broker)) {
            master.start(Role.MASTER);
            slave.follow();
            blind.set(true);
            assertEquals(Decision.DURABLE, master.ask(key, 50, "c1"));
            slave.progress.promote(0);
            assertFalse(slave.progress.counters().clusterRead, "it comes to its keys later");
            assertTrue(pop(slave, key, 999));
            assertTrue(pop(slave, first, 7), "of a key that nobody has");
            blind.set(false);
            Stand.await("it has come to its keys", () -> slave.progress.counters().clusterRead);
            assertEquals(OptionalLong.of(50), slave.progress.query(key));
            assertFalse(pop(slave, key, 1_000));
            Stand.await("POP is told where to begin", () -> Long.valueOf(50).equals(slave.assigned.get(key)));
            assertTrue(slave.progress.followed(key, 50, Commit.POP));
            assertTrue(pop(slave, key, 82));
            assertTrue(slave.progress.drain(20, TimeUnit.SECONDS));
            assertEquals(OptionalLong.of(82), slave.storedOffset(key));
            assertEquals(OptionalLong.of(7), slave.storedOffset(first));
        }
    }

    @Test
    void whatNobodyHasReadIsNoLeftover(TestInfo test) throws Exception {
        String broker = test.getTestMethod().get().getName();
        try (Stand master = new Stand(cluster, folder.resolve("master"), broker, "C/1"); Stand slave = blind(broker)) {
            master.start(Role.MASTER);
            slave.follow();
            blind.set(true);
            deaf.set(true);
            assertEquals(Decision.DURABLE, master.ask(key, 50, "c1"));
            assertTrue(pop(slave, key, 999));
            slave.progress.close(0, TimeUnit.MILLISECONDS);
            slave.persist();
            slave.options.startAlone = true;
            slave.start(Role.SLAVE);
            assertEquals(OptionalLong.empty(), slave.progress.query(key), "nor has the file a row of it");
            blind.set(false);
            deaf.set(false);
            Stand.await("the cluster is read", () -> slave.progress.counters().clusterRead);
            assertTrue(slave.progress.drain(20, TimeUnit.SECONDS));
            assertEquals(OptionalLong.of(50), slave.progress.query(key));
            assertEquals(OptionalLong.of(50), slave.storedOffset(key));
        }
    }

    @Test
    void whatAMasterAloneSaysIsALeftover(TestInfo test) throws Exception {
        try (Stand s = blind(test.getTestMethod().get().getName())) {
            s.start(Role.MASTER);
            deaf.set(true);
            assertTrue(pop(s, key, 7));
            assertEquals(1, s.progress.mark().unsent.size(), "no other broker commits");
            blind.set(true);
            s.progress.promote(0);
            assertFalse(s.progress.counters().clusterRead);
            assertEquals(0, s.progress.mark().unsent.size(), "another may have committed before");
        }
    }

    @Test
    void whatTheFileHasIsNotTheEnd(TestInfo test) throws Exception {
        String broker = test.getTestMethod().get().getName();
        try (Stand master = new Stand(cluster, folder.resolve("master"), broker, "C/1"); Stand slave = blind(broker)) {
            master.start(Role.MASTER);
            assertEquals(Decision.DURABLE, master.ask(key, 40, "c1"));
            String alone = Mark.of("", broker, 0, Collections.emptyList()).alone().json();
            slave.write("\"offsetTable\":{\"orders@billing\":{3:50}},\"" + Mark.FIELD + "\":" + alone);
            slave.options.startAlone = true;
            blind.set(true);
            slave.start(Role.SLAVE);
            assertTrue(pop(slave, key, 82), "it goes on from the file's");
            blind.set(false);
            Stand.await("the cluster is read", () -> slave.progress.counters().clusterRead);
            assertTrue(slave.progress.drain(20, TimeUnit.SECONDS));
            assertEquals(OptionalLong.of(82), slave.storedOffset(key));
        }
    }

    private static boolean pop(Stand s, Key key, long offset) {
        return s.progress.commit(Commit.of(key, offset, Origin.POP, Commit.POP_BUFFER, 0));
    }

    /** An orderly pop commits where it begins, and with each ack the first offset that is not acknowledged. */
    private static boolean orderly(Stand s, Key key, long offset) {
        return s.progress.commit(Commit.of(key, offset, Origin.POP, "10.0.0.7:4711", 0));
    }

    @Test
    void popFollowsAResetAtASlaveByBeginningAnew(TestInfo test) throws Exception {
        String broker = test.getTestMethod().get().getName();
        Key idle = new Key("orders", "billing", 4);
        Key inOrder = new Key("orders", "billing", 5);
        try (Stand master = new Stand(cluster, folder.resolve("master"), broker, "C/1");
            Stand slave = new Stand(cluster, folder.resolve("slave"), broker, "C/1")) {
            master.start(Role.MASTER);
            assertEquals(Decision.DURABLE, master.ask(key, 100, "c1"));
            assertEquals(Decision.DURABLE, master.ask(idle, 100, "c1"));
            assertEquals(Decision.DURABLE, master.ask(inOrder, 100, "c1"));
            slave.follow();
            for (Key k : new Key[] {key, idle, inOrder}) {
                master.progress.assign(Collections.singletonMap(k, 10L));
                Stand.await("the slave follows", () -> slave.progress.query(k).equals(OptionalLong.of(10)));
            }
            assertFalse(pop(slave, key, 132), "what was under way before the reset");
            assertFalse(pop(slave, key, 164));
            assertTrue(pop(slave, key, 42), "it begins anew at the table's");
            assertTrue(pop(slave, key, 74));
            assertFalse(pop(slave, idle, 42), "that may have been under way, too");
            assertTrue(pop(slave, idle, 42), "the same batch again");
            assertFalse(orderly(slave, inOrder, 101), "an ack of before the reset");
            assertFalse(orderly(slave, inOrder, 101), "and one that acknowledges no more");
            assertTrue(orderly(slave, inOrder, 10), "it begins anew");
            assertTrue(orderly(slave, inOrder, 11));
            assertTrue(slave.progress.drain(20, TimeUnit.SECONDS));
            assertEquals(OptionalLong.of(11), slave.storedOffset(inOrder));
            assertEquals(OptionalLong.of(74), slave.storedOffset(key));
            assertEquals(OptionalLong.of(42), slave.storedOffset(idle));
            assertFalse(slave.commit(key, 80, "c1"), "it was opened to POP alone");
        }
    }
}
