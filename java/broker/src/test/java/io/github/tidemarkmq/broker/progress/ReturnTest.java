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
import java.util.concurrent.atomic.AtomicInteger;
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

    @Test
    void anArrivalThatWasBrokenOffLosesNothingThatTheFileAloneHad() throws Exception {
        Broken fault = new Broken();
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client();
            Stand s = new Stand(fault.over(cluster), folder, "b", "C/1")) {
            s.start(Role.MASTER);
            s.ask(key, 40, "c1");
            s.ask(other, 1, "c1");
            s.progress.close(0, TimeUnit.MILLISECONDS); // nothing is sent any more
            Mark alone = s.progress.mark().alone();
            s.write("\"offsetTable\":{\"orders@billing\":{3:50,4:7},\"refunds@billing\":{0:1}},\"" + Mark.FIELD + "\":"
                + alone.json());
            s.options.startAlone = true;
            fault.at = Listing.ANY;
            s.start(Role.MASTER);
            assertTrue(s.commit(other, 2, "c1"));
            fault.breakAt(Listing.LATER_PAGE);
            fault.breakAt(Listing.OF_CHANGES);
            fault.at = Listing.NONE;
            Stand.await("all is sent", () -> s.progress.counters().clusterRead && s.progress.counters().marked == 0);
            Key onlyInFile = new Key("orders", "billing", 4);
            assertEquals(OptionalLong.of(50), s.progress.query(key));
            assertEquals(OptionalLong.of(50), s.storedOffset(key));
            assertEquals(OptionalLong.of(2), s.storedOffset(other));
            assertEquals(OptionalLong.of(7), s.progress.query(onlyInFile));
            assertEquals(OptionalLong.of(7), s.storedOffset(onlyInFile));
        }
    }

    @Test
    void aPromotionThatWasBrokenOffLosesNoFirstValue() throws Exception {
        Broken fault = new Broken();
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client();
            Stand master = new Stand(cluster, folder.resolve("master"), "b", "C/1");
            Stand s = new Stand(fault.over(cluster), folder.resolve("slave"), "b", "C/1")) {
            master.start(Role.MASTER);
            master.ask(other, 1, "c1");
            s.follow();
            fault.at = Listing.ANY;
            s.progress.promote(0);
            assertTrue(s.commit(key, 7, "c1"), "of a key that nobody has");
            fault.breakAt(Listing.OF_CHANGES);
            fault.at = Listing.NONE;
            Stand.await("all is sent", () -> s.progress.counters().clusterRead && s.progress.counters().marked == 0);
            assertEquals(OptionalLong.of(7), s.progress.query(key));
            assertEquals(OptionalLong.of(7), s.storedOffset(key));
        }
    }

    /** Which listings of keys fail. */
    private enum Listing { NONE, ANY, LATER_PAGE, OF_CHANGES }

    /** A cluster whose listings have one key a page, and fail as they are told. */
    private static final class Broken {
        volatile Listing at = Listing.NONE;
        private final AtomicInteger failed = new AtomicInteger();
        private int walks;

        /** Waits until an arrival has been broken off there. */
        void breakAt(Listing listing) {
            at = listing;
            int before = failed.get();
            Stand.await("an arrival is broken off", () -> failed.get() > before + 1); // the first may be of before
        }

        /** An arrival looks by pages of one row; then it walks over all keys, and over what changed meanwhile. */
        private boolean fails(Object after, int rows) {
            walks = rows == 1 ? 0 : after == null ? walks + 1 : walks;
            return at == Listing.ANY || at == Listing.LATER_PAGE && after != null
                || at == Listing.OF_CHANGES && walks == 2;
        }

        Cluster over(Cluster cluster) {
            return (Cluster) Proxy.newProxyInstance(ReturnTest.class.getClassLoader(), new Class<?>[] {Cluster.class},
                (proxy, method, args) -> {
                    if (method.getName().equals("listKeys")) {
                        if (fails(args[1], (int) args[2])) {
                            failed.incrementAndGet();
                            throw new TidemarkException(Code.UNREACHABLE, "as the test wants it");
                        }
                        args[2] = 1;
                    }
                    try {
                        return method.invoke(cluster, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
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
