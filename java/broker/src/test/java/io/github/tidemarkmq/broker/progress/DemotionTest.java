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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker that is demoted while it still comes to its keys as the master. */
class DemotionTest {
    @TempDir
    Path folder;

    private final Key key = new Key("orders", "billing", 3);

    @Test
    void whoIsTheMasterNoMoreClaimsNothing() throws Exception {
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client()) {
            AtomicBoolean hold = new AtomicBoolean();
            CountDownLatch asks = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            Cluster slow = faulty(cluster, (name, args) -> {
                if (hold.get() && name.equals("claimOfBroker")) {
                    asks.countDown();
                    goOn.await(30, TimeUnit.SECONDS);
                }
            });
            try (Stand old = new Stand(slow, folder.resolve("old"), "b", "C/1");
                Stand young = new Stand(cluster, folder.resolve("young"), "b", "C/1")) {
                old.follow();
                hold.set(true);
                Thread promotion = new Thread(() -> {
                    try {
                        old.progress.promote(0);
                    } catch (StartRefused e) {
                        throw new AssertionError(e);
                    }
                });
                promotion.start();
                asks.await(30, TimeUnit.SECONDS);
                young.start(Role.MASTER);
                old.progress.demote();
                goOn.countDown();
                promotion.join(TimeUnit.SECONDS.toMillis(60));
                assertFalse(promotion.isAlive());
                Stand.await("the old one follows as a slave", () -> old.progress.counters().clusterRead);
                assertEquals(Decision.DURABLE, young.ask(key, 5, "c1"), "the new one has the name still");
                assertEquals(Decision.DURABLE, old.ask(key, 6, "c2"));
            }
        }
    }

    @Test
    void whatNobodyCouldReadIsNotServedByTheSlave() throws Exception {
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client()) {
            AtomicBoolean deaf = new AtomicBoolean();
            try (Stand old = new Stand(faulty(cluster, (name, args) -> {
                if (deaf.get() && name.equals("fetch")) {
                    throw new TidemarkException(Code.UNREACHABLE, "cut off");
                }
            }), folder.resolve("old"), "b", "C/1");
                Stand young = new Stand(cluster, folder.resolve("young"), "b", "C/1")) {
                old.start(Role.MASTER);
                deaf.set(true);
                assertTrue(old.commit(key, 500, "c1"));
                young.start(Role.MASTER);
                assertEquals(Decision.DURABLE, young.ask(key, 300, "c2"));
                old.progress.demote();
                deaf.set(false);
                Stand.await("the old one follows as a slave", () -> old.progress.counters().clusterRead);
                Stand.Late<OptionalLong> read = new Stand.Late<>();
                old.progress.read(key, "c3", (offset, certain) -> read.set(offset));
                assertEquals(OptionalLong.of(300), read.get());
            }
        }
    }

    @Test
    void queriesDuringAPromotionAreReads() throws Exception {
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client()) {
            AtomicBoolean hold = new AtomicBoolean();
            CountDownLatch asks = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            try (Stand s = new Stand(faulty(cluster, (name, args) -> {
                if (hold.get() && name.equals("claimOfBroker")) {
                    asks.countDown();
                    goOn.await(30, TimeUnit.SECONDS);
                }
            }), folder.resolve("old"), "b", "C/1")) {
                s.start(Role.SLAVE);
                assertTrue(s.progress.asksCluster());
                hold.set(true);
                Thread promotion = new Thread(() -> {
                    try {
                        s.progress.promote(0);
                    } catch (StartRefused e) {
                        throw new AssertionError(e);
                    }
                });
                promotion.start();
                asks.await(30, TimeUnit.SECONDS);
                assertEquals(Role.MASTER, s.progress.counters().role);
                assertTrue(s.progress.asksCluster(), "the table is that of a slave still");
                goOn.countDown();
                promotion.join(TimeUnit.SECONDS.toMillis(60));
                assertFalse(s.progress.asksCluster());
            }
        }
    }

    @Test
    void aLeftoverThatIsRefusedDoesNotOutliveANewClaim() throws Exception {
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client()) {
            AtomicBoolean full = new AtomicBoolean();
            try (Stand old = new Stand(faulty(cluster, (name, args) -> {
                if (full.get() && name.equals("commit")) {
                    throw new TidemarkException(Code.LIMIT, "as the test wants it");
                }
            }), folder.resolve("old"), "b", "C/1");
                Stand young = new Stand(cluster, folder.resolve("young"), "b", "C/1")) {
                old.start(Role.MASTER);
                assertEquals(Decision.DURABLE, old.ask(key, 100, "c1"));
                old.progress.close(0, TimeUnit.MILLISECONDS); // nothing is sent any more
                assertTrue(old.commit(key, 110, "c1"));
                old.persist();
                young.start(Role.MASTER);
                full.set(true);
                old.start(Role.SLAVE);
                full.set(false);
                assertEquals(OptionalLong.of(100), old.progress.query(key));
                assertTrue(old.progress.drain(20, TimeUnit.SECONDS));
                assertEquals(OptionalLong.of(100), old.storedOffset(key));
            }
        }
    }

    @Test
    void whatWasMovedWhileAnotherHadTheNameIsClosed() throws Exception {
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client()) {
            AtomicInteger looks = new AtomicInteger();
            try (Stand old = new Stand(faulty(cluster, (name, args) -> {
                if (name.equals("listKeys")) {
                    looks.incrementAndGet();
                }
            }), folder.resolve("old"), "b", "C/1");
                Stand young = new Stand(cluster, folder.resolve("young"), "b", "C/1")) {
                Key open = new Key("orders", "billing", 4);
                old.start(Role.MASTER);
                assertEquals(Decision.DURABLE, old.ask(key, 100, "c1"));
                assertEquals(Decision.DURABLE, old.ask(open, 100, "c1"));
                young.start(Role.MASTER);
                Stand.await("the old one has lost the name", () -> old.progress.counters().lost == 2);
                young.progress.assign(Collections.singletonMap(key, 30L));
                assertTrue(young.progress.followed(key, 30, "c2"));
                assertTrue(young.progress.drain(20, TimeUnit.SECONDS));
                int seen = looks.get();
                Stand.await("it has looked since", () -> looks.get() > seen + 1);
                old.persist();
                old.progress.demote();
                Stand.await("it follows as a slave", () -> old.progress.counters().clusterRead);
                assertEquals(OptionalLong.of(30), old.progress.query(key));
                assertEquals(Decision.CLOSED, old.ask(key, 101, "c1"), "it does not know of the reset");
                assertEquals(Decision.DURABLE, old.ask(open, 101, "c1"), "nobody has moved this one");
                old.kill();
                old.start(Role.SLAVE); // from what was written before
                assertEquals(Decision.CLOSED, old.ask(key, 102, "c1"));
                assertEquals(Decision.DURABLE, old.ask(open, 102, "c1"));
            }
        }
    }

    private interface Fault {
        void before(String name, Object[] args) throws Exception;
    }

    private Cluster faulty(Cluster cluster, Fault fault) {
        return (Cluster) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, method, args) -> {
                fault.before(method.getName(), args);
                try {
                    return method.invoke(cluster, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }
}
