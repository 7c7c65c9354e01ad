package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.client.ActHeader;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyFilter;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TestCluster;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Masters of one controller group, which hold the same store: the newer epoch has the name. */
class EpochTest {
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

    private Stand slave(TestInfo test, String name) throws StartRefused {
        Stand s = new Stand(cluster, folder.resolve(name), test.getTestMethod().get().getName(), "C/1");
        s.start(Role.SLAVE);
        return s;
    }

    @Test
    void aMasterOfAnEarlierEpochClaimsNothing(TestInfo test) throws Exception {
        try (Stand old = slave(test, "old"); Stand young = slave(test, "young")) {
            young.progress.promote(2);
            assertEquals(Decision.DURABLE, young.ask(key, 5, "c1"));
            old.progress.promote(1); // it was cut off, and has not heard of the other
            assertFalse(old.progress.counters().clusterRead);
            assertEquals(Decision.DURABLE, young.ask(key, 6, "c1"), "the new one has the name still");
            old.progress.promote(3);
            Key other = new Key("orders", "billing", 4);
            assertEquals(Decision.DURABLE, old.ask(other, 7, "c2"), "elected again, it has it");
        }
    }

    @Test
    void anEarlierOneThatClaimedAllTheSameIsFollowedByAnotherClaim(TestInfo test) throws Exception {
        try (Stand s = slave(test, "young")) {
            s.progress.promote(2);
            assertEquals(Decision.DURABLE, s.ask(key, 5, "c1"));
            claim(s.options.broker, "C/1"); // as a jar does that knows no epochs
            Stand.await("the key is lost", () -> {
                s.commit(key, 6, "c1");
                return s.progress.isOvertaken();
            });
            s.progress.promote(2);
            assertFalse(s.progress.isOvertaken());
            assertEquals(Decision.DURABLE, s.ask(key, 7, "c1"));
            claim(s.options.broker, "C/1#2");
            Stand.await("the key is lost", () -> {
                s.commit(key, 8, "c1");
                return s.progress.counters().lost == 1;
            });
            assertFalse(s.progress.isOvertaken(), "a copy of the store: who claimed last has the name");
        }
    }

    private static void claim(String broker, String holder) throws Exception {
        Deadline d = Deadline.after(20, TimeUnit.SECONDS);
        ActHeader act = ActHeader.after(cluster.listKeys(KeyFilter.ALL, null, 1, ReadAt.LINEARIZABLE, d).meta());
        cluster.claimBroker(act, broker, holder, d);
    }
}
