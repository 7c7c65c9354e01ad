package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.TestCluster;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
            Cluster slow = (Cluster) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Cluster.class},
                (proxy, method, args) -> {
                    if (hold.get() && method.getName().equals("claimOfBroker")) {
                        asks.countDown();
                        goOn.await(30, TimeUnit.SECONDS);
                    }
                    try {
                        return method.invoke(cluster, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
            try (Stand old = new Stand(slow, folder.resolve("old"), "b", "C/1");
                Stand young = new Stand(cluster, folder.resolve("young"), "b", "C/1")) {
                old.start(Role.SLAVE);
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
}
