package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.client.ActHeader;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyFilter;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.Target;
import io.github.tidemarkmq.client.TestCluster;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against three real nodes, whose leaders are killed: nothing acknowledged is lost, nothing older follows. */
class ClusterKillTest {
    private static final int GROUPS = 20;
    private static final int QUEUES = 16;
    private static final boolean SOAK = "1".equals(System.getenv("SOAK"));
    private static final int KILLS = SOAK ? 10 : 2;

    @TempDir
    Path folder;

    @Test
    void leadersAreKilledWhileConsumersCommit() throws Exception {
        try (TestCluster nodes = TestCluster.start(3); Cluster client = nodes.client();
            Stand s = new Stand(client, folder, "b", "C/1")) {
            s.start(Role.MASTER);
            Load load = new Load(s);
            load.begin();
            for (int i = 0; i < KILLS; i++) {
                load.awaitDurable(500);
                TestCluster.Node leader = nodes.leader(client);
                leader.kill();
                load.awaitDurable(500);
                leader.start();
            }
            load.end();
            assertTrue(s.progress.drain(60, TimeUnit.SECONDS), "all is sent");
            load.check(s);
        }
    }

    @Test
    void allNodesAreAwayAndTheBrokerRestarts() throws Exception {
        try (TestCluster nodes = TestCluster.start(3); Cluster client = nodes.client();
            Stand s = new Stand(client, folder, "b", "C/1")) {
            s.start(Role.MASTER);
            s.options.startAlone = true;
            s.options.startMillis = 500;
            Load load = new Load(s);
            load.begin();
            load.awaitDurable(500);
            for (TestCluster.Node n : nodes.nodes()) {
                n.kill();
            }
            load.awaitCommits(5_000);
            load.end();
            s.progress.close(100, TimeUnit.MILLISECONDS);
            s.persist();
            s.start(Role.MASTER); // alone, from its file
            assertTrue(s.lines.stream().anyMatch(l -> l.contains("STARTED WITHOUT THE CLUSTER")));
            Load more = new Load(s);
            more.goOn(load);
            more.begin();
            more.awaitCommits(1_000);
            for (TestCluster.Node n : nodes.nodes()) {
                n.start();
            }
            more.awaitDurable(100);
            more.end();
            Stand.await("all is sent", () -> s.progress.counters().clusterRead && s.progress.counters().marked == 0);
            more.check(s);
        }
    }

    @Test
    void aResetWinsOverCommitsUnderWay() throws Exception {
        try (TestCluster nodes = TestCluster.start(3); Cluster client = nodes.client();
            Stand s = new Stand(client, folder, "b", "C/1")) {
            s.start(Role.MASTER);
            Key key = new Key("t", "g", 0);
            AtomicBoolean stop = new AtomicBoolean();
            long[] at = {1_000};
            Thread consumer = new Thread(() -> {
                while (!stop.get()) {
                    s.commit(key, ++at[0], "c1"); // it has not heard of the reset, and goes on
                }
            });
            consumer.start();
            Random random = new Random(7);
            for (int i = 0; i < 5; i++) {
                Stand.await("commits are taken", () -> s.progress.assigned(key).orElse(-1) < 0);
                long to = random.nextInt(900);
                ActHeader act = ActHeader.after(client.listKeys(KeyFilter.ALL, null, 1, ReadAt.LINEARIZABLE,
                    Deadline.after(30, TimeUnit.SECONDS)).meta());
                client.reset(act, Collections.singletonList(new Target(OffsetKeys.of(key, "b"), to)),
                    Deadline.after(30, TimeUnit.SECONDS));
                Stand.await("the reset is assigned", () -> s.progress.assigned(key).equals(OptionalLong.of(to)));
                assertEquals(OptionalLong.of(to), s.storedOffset(key));
                assertTrue(s.stored(key).position().pending());
                at[0] = to;
                assertTrue(s.progress.followed(key, to, "c1"));
                Stand.await("it goes on from there", () -> s.progress.query(key).orElse(0) > to);
            }
            stop.set(true);
            consumer.join();
            assertTrue(s.progress.drain(30, TimeUnit.SECONDS));
            assertEquals(s.progress.query(key), s.storedOffset(key));
        }
    }

    /** Consumers of many queues that commit rising offsets, a part of them two-way, and note what was called durable. */
    private static final class Load {
        private final Stand stand;
        private final List<Thread> threads = new ArrayList<>();
        private final AtomicLongArray said = new AtomicLongArray(GROUPS * QUEUES);
        private final AtomicLongArray durable = new AtomicLongArray(GROUPS * QUEUES);
        private final AtomicLongArray counts = new AtomicLongArray(2);
        private volatile boolean stop;

        Load(Stand stand) {
            this.stand = stand;
        }

        private static Key key(int i) {
            return new Key("topic", "group" + i / QUEUES, i % QUEUES);
        }

        void goOn(Load before) {
            for (int i = 0; i < said.length(); i++) {
                said.set(i, before.said.get(i));
                durable.set(i, before.durable.get(i));
                assertEquals(OptionalLong.of(said.get(i)), stand.progress.query(key(i)), "from the file");
            }
        }

        void begin() {
            for (int t = 0; t < 2; t++) {
                int mine = t;
                Thread thread = new Thread(() -> run(mine));
                threads.add(thread);
                thread.start();
            }
        }

        private void run(int mine) {
            Random random = new Random(mine);
            while (!stop) {
                for (int i = mine; i < said.length(); i += 2) {
                    commit(i, said.get(i) + 1 + random.nextInt(3), random.nextInt(10) == 0);
                }
                Thread.yield();
            }
        }

        private void commit(int i, long offset, boolean twoWay) {
            said.set(i, offset);
            counts.incrementAndGet(0);
            if (!twoWay) {
                stand.commit(key(i), offset, "c");
                return;
            }
            stand.progress.commit(Commit.twoWay(key(i), offset, "c", 0, d -> {
                if (d == Decision.DURABLE) {
                    counts.incrementAndGet(1);
                    durable.accumulateAndGet(i, offset, Math::max);
                }
            }));
        }

        void awaitCommits(long more) {
            long from = counts.get(0);
            Stand.await("commits", () -> counts.get(0) >= from + more);
        }

        void awaitDurable(long more) {
            long from = counts.get(1);
            Stand.await("commits called durable", () -> counts.get(1) >= from + more);
        }

        void end() throws InterruptedException {
            stop = true;
            for (Thread t : threads) {
                t.join();
            }
        }

        void check(Stand s) throws Exception {
            for (int i = 0; i < said.length(); i++) {
                long stored = s.storedOffset(key(i)).orElse(-1);
                assertTrue(stored >= durable.get(i), key(i) + " at " + stored + " was durable at " + durable.get(i));
                assertEquals(said.get(i), stored, key(i).toString());
                assertEquals(OptionalLong.of(stored), s.progress.query(key(i)));
            }
            assertEquals(0, s.progress.counters().fenced, "nobody else was there");
            assertEquals(0, s.progress.counters().lowered);
        }
    }
}
