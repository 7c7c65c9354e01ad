package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.client.ActHeader;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.Scope;
import io.github.tidemarkmq.client.TestCluster;
import io.github.tidemarkmq.client.TidemarkException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Collections;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker that comes back on its own file, to a cluster that has gone on, or that answers in part. */
class ReturnTest {
    @TempDir
    Path folder;

    private final Key key = new Key("orders", "billing", 3);
    private final Key other = new Key("refunds", "billing", 0);

    @Test
    void whatWasRemovedMeanwhileIsNotBroughtBack() throws Exception {
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client();
            Stand s = new Stand(cluster, folder, "b", "C/1")) {
            s.start(Role.MASTER);
            s.ask(key, 40, "c1");
            s.ask(other, 1, "c1");
            Stand.await("what it wrote is followed", () -> s.progress.mark().index >= index(s));
            Mark seen = s.progress.mark();
            s.kill();
            Mark.Unsent unread = new Mark.Unsent(key, 50, Mark.UNREAD, KeyProgress.NONE);
            Mark mark = Mark.of(seen.clusterId, "b", seen.index, Collections.singletonList(unread));
            s.write("\"offsetTable\":{\"orders@billing\":{3:50},\"refunds@billing\":{0:1}},\"" + Mark.FIELD + "\":"
                + mark.json());
            Deadline soon = Deadline.after(20, TimeUnit.SECONDS);
            cluster.remove(ActHeader.after(cluster.status(soon).meta()), Scope.topic("billing", "orders").ofBroker("b"),
                soon);
            s.start(Role.MASTER);
            Stand.await("nothing is left to send", () -> s.progress.counters().marked == 0);
            assertEquals(OptionalLong.empty(), s.storedOffset(key));
            assertEquals(OptionalLong.of(1), s.storedOffset(other));
        }
    }

    private static long index(Stand s) {
        return s.progress.counters().lastAcknowledgedIndex;
    }

    @Test
    void aStartBesideAClusterThatWasReadInPartWritesItsFile() throws Exception {
        AtomicBoolean half = new AtomicBoolean();
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client();
            Stand s = new Stand(withoutPages(cluster, half), folder, "b", "C/1")) {
            s.start(Role.MASTER);
            s.ask(key, 9, "c1");
            s.persist();
            s.kill();
            half.set(true);
            s.options.startAlone = true;
            s.start(Role.MASTER);
            assertTrue(s.commit(key, 12, "c1"));
            assertNotNull(s.progress.mark());
            s.persist();
            s.kill();
            half.set(false);
            s.start(Role.MASTER);
            Stand.await("nothing is left to send", () -> s.progress.counters().marked == 0);
            assertEquals(OptionalLong.of(12), s.storedOffset(key));
        }
    }

    /** The cluster, but for listings of more than one key. */
    private static Cluster withoutPages(Cluster cluster, AtomicBoolean half) {
        return (Cluster) Proxy.newProxyInstance(ReturnTest.class.getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, method, args) -> {
                if (half.get() && method.getName().equals("listKeys") && (int) args[2] > 1) {
                    throw new TidemarkException(Code.UNREACHABLE, "as the test wants it");
                }
                try {
                    return method.invoke(cluster, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }
}
