package io.github.tidemarkmq.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes that die, fall silent or answer nothing, under calls. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FaultTest {
    private TestCluster cluster;
    private TidemarkClient client;

    @BeforeEach
    void start() throws Exception {
        cluster = TestCluster.start(3);
        client = cluster.client();
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        cluster.close();
    }

    /** Commits 1, 2, 3, ... of one key until it is told to stop, each within 20 s. */
    private final class Writer implements Runnable {
        private final OffsetKey key;
        private final String clusterId;
        private volatile long acknowledged;
        private volatile boolean over;
        private final AtomicReference<TidemarkException> failed = new AtomicReference<>();

        Writer(int queue, String clusterId) {
            this.key = new OffsetKey("g", "t", "b", queue);
            this.clusterId = clusterId;
        }

        @Override
        public void run() {
            while (!over && failed.get() == null) {
                try {
                    Commit next = new Commit(key, acknowledged + 1, 0);
                    acknowledged = client.commit(clusterId, Collections.singletonList(next),
                        Deadline.after(20, TimeUnit.SECONDS)).offset(0);
                } catch (TidemarkException e) {
                    failed.set(e);
                }
            }
        }

        void reach(long offset) throws InterruptedException {
            Deadline end = Deadline.after(40, TimeUnit.SECONDS);
            while (acknowledged < offset && failed.get() == null) {
                assertTrue(!end.passed(), "no progress of " + key + " at " + acknowledged);
                Thread.sleep(5);
            }
        }
    }

    /** Has four writers commit through a fault, and checks what the cluster then has. */
    private void through(Fault fault) throws Exception {
        String id = client.status(Deadline.after(10, TimeUnit.SECONDS)).meta().clusterId();
        List<Writer> writers = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            writers.add(new Writer(i, id));
            threads.add(new Thread(writers.get(i), "writer-" + i));
            threads.get(i).start();
        }
        for (Writer w : writers) {
            w.reach(50);
        }
        fault.strike(cluster.leader(client));
        for (Writer w : writers) {
            w.reach(w.acknowledged + 50);
            w.over = true;
        }
        for (Thread t : threads) {
            t.join();
        }
        for (Writer w : writers) {
            assertNull(w.failed.get());
            long stored = client.fetch(Collections.singletonList(w.key), ReadAt.LINEARIZABLE,
                Deadline.after(20, TimeUnit.SECONDS)).states().get(0).position().offset();
            assertEquals(w.acknowledged, stored);
        }
    }

    private interface Fault {
        void strike(TestCluster.Node leader) throws Exception;
    }

    @Test
    void callsGoOnWhenTheLeaderIsKilled() throws Exception {
        through(TestCluster.Node::kill);
    }

    @Test
    void callsGoOnWhenTheLeaderIsPaused() throws Exception {
        AtomicReference<TestCluster.Node> paused = new AtomicReference<>();
        through(leader -> {
            leader.pause();
            paused.set(leader);
        });
        paused.get().resume();
    }

    @Test
    void aSilentNodeIsLeftLongBeforeItsTimeIsUp() throws Exception {
        try (TidemarkClient patient = TidemarkClient.open(
            ClientOptions.seeds(cluster.addresses()).attemptMillis(60_000).build())) {
            OffsetKey key = new OffsetKey("g", "t", "b", 9);
            String id = patient.status(Deadline.after(10, TimeUnit.SECONDS)).meta().clusterId();
            TestCluster.Node leader = cluster.leader(patient);
            leader.pause();
            // It would end with its deadline if it waited for the paused node as long as that may take.
            CommitAnswer a = patient.commit(id, Collections.singletonList(new Commit(key, 1, 0)),
                Deadline.after(50, TimeUnit.SECONDS));
            assertTrue(a.accepted(0));
            leader.resume();
        }
    }

    @Test
    void aCallEndsWithItsDeadlineWhenNobodyAnswers() throws Exception {
        String id = client.status(Deadline.after(10, TimeUnit.SECONDS)).meta().clusterId();
        OffsetKey key = new OffsetKey("g", "t", "b", 0);
        for (TestCluster.Node n : cluster.nodes()) {
            n.pause();
        }
        long began = System.nanoTime();
        TidemarkException read = assertThrows(TidemarkException.class, () -> client.fetch(
            Collections.singletonList(key), ReadAt.LINEARIZABLE, Deadline.after(1500, TimeUnit.MILLISECONDS)));
        TidemarkException write = assertThrows(TidemarkException.class, () -> client.commit(id,
            Collections.singletonList(new Commit(key, 1, 0)), Deadline.after(1500, TimeUnit.MILLISECONDS)));
        long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        assertEquals(Code.UNREACHABLE, read.code(), read.getMessage());
        assertEquals(Code.OUTCOME_UNKNOWN, write.code(), write.getMessage());
        assertTrue(took < 3000 + 2000, "two calls of 1.5 s each took " + took + " ms");
        for (TestCluster.Node n : cluster.nodes()) {
            n.resume();
        }
    }

    @Test
    void addressesWhereNobodyListensAreNamed() throws Exception {
        for (TestCluster.Node n : cluster.nodes()) {
            n.kill();
        }
        TidemarkException e = assertThrows(TidemarkException.class,
            () -> client.status(Deadline.after(500, TimeUnit.MILLISECONDS)));
        assertEquals(Code.UNREACHABLE, e.code());
        assertTrue(e.getMessage().contains("127.0.0.1:"), e.getMessage());
    }
}
