package io.github.tidemarkmq.broker.role;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.github.tidemarkmq.broker.progress.ActFailed;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Role;
import io.github.tidemarkmq.broker.progress.StartRefused;
import io.github.tidemarkmq.broker.store.QueueEnds;
import io.github.tidemarkmq.broker.store.TailCheck;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The broker here has one queue that ends at 10, and an offset of 12 on it. */
class RoleWatchTest {
    private static final String STORE = "0123456789abcdef0123456789abcdef";

    @TempDir
    Path dir;

    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private final FakeGroup group = new FakeGroup();
    private final FakeKeys keys = new FakeKeys();
    private volatile long offset = 12;
    private StoreIdentity store;
    private StartRefused refusal;
    private RoleWatch watch;

    private RoleWatch watch(Role role, TailCheck.Policy policy) throws StartRefused {
        store = StoreIdentity.open(dir);
        TailCheck tail = new TailCheck(rows -> rows.row("orders", "billing", 0, offset), this::lower, new OneQueue(), policy,
            new Quiet());
        watch = new RoleWatch(role, keys, tail, group, store, new Quiet());
        return watch;
    }

    private final class FakeKeys implements RoleWatch.Keys {
        volatile boolean overtaken;
        volatile boolean read = true;
        volatile boolean settled = true;

        @Override
        public void promote(long epoch) throws StartRefused {
            if (refusal != null) {
                throw refusal;
            }
            done.add("promote " + epoch);
        }

        @Override
        public void demote() {
            done.add("demote");
        }

        @Override
        public boolean isOvertaken() {
            return overtaken;
        }

        @Override
        public boolean areRead() {
            return read;
        }

        @Override
        public boolean areSettled() {
            return settled;
        }

        @Override
        public void masterHasRead(String clusterId) {
            settled = true;
            done.add("settle by " + clusterId);
        }
    }

    private void lower(Map<Key, Long> targets) throws ActFailed {
        done.add("lower " + targets);
    }

    private void assertDone(String... expected) {
        assertEquals(Arrays.asList(expected), done);
    }

    @AfterEach
    void close() {
        watch.close();
    }

    @Test
    void aMasterByItsConfigurationLooksForALostTailBeforeItServes() throws StartRefused {
        watch(Role.MASTER, TailCheck.Policy.LOWER).beforeServing();
        assertDone("lower {orders@billing queue 0=10}");
        watch.changed(Role.MASTER); // a normal start of its services
        assertEquals(1, done.size());
    }

    @Test
    void aWrongDiskEndsItsStart() throws StartRefused {
        watch(Role.MASTER, TailCheck.Policy.END);
        assertThrows(StartRefused.class, watch::beforeServing);
        assertDone();
    }

    @Test
    void aSlaveLowersNothing() throws StartRefused {
        watch(Role.SLAVE, TailCheck.Policy.LOWER).beforeServing();
        watch.changed(Role.SLAVE);
        assertDone();
    }

    @Test
    void aSlaveThatIsPromotedClaimsAndThenLowersWhateverItsLogDoesNotHold() throws StartRefused {
        watch(Role.SLAVE, TailCheck.Policy.END).beforeServing();
        group.epoch = 3;
        watch.changed(Role.MASTER);
        assertDone("promote 3", "lower {orders@billing queue 0=10}");
        watch.changed(Role.SLAVE);
        watch.changed(Role.SLAVE);
        assertEquals("demote", done.get(2));
        assertEquals(3, done.size());
        assertEquals(Role.SLAVE, watch.role());
    }

    @Test
    void theFirstMasterOfAGroupIsElectedWhileItStartsAndCheckedLikeAnyStart() throws StartRefused {
        watch(Role.SLAVE, TailCheck.Policy.END);
        group.epoch = 1;
        assertThrows(StartRefused.class, () -> watch.changed(Role.MASTER));
        assertDone("promote 1");
    }

    @Test
    void whoMustNotBeTheMasterStaysASlave() throws StartRefused {
        watch(Role.SLAVE, TailCheck.Policy.END).beforeServing();
        refusal = new StartRefused("the name belongs to another");
        assertThrows(StartRefused.class, () -> watch.changed(Role.MASTER));
        assertEquals(Role.SLAVE, watch.role());
        assertDone();
    }

    @Test
    void aMasterThatWasElectedAgainClaimsAgain() throws StartRefused {
        watch(Role.SLAVE, TailCheck.Policy.KEEP);
        group.epoch = 1;
        watch.changed(Role.MASTER);
        watch.look();
        assertDone("promote 1");
        group.epoch = 3; // another was the master meanwhile, and this one was never told
        watch.look();
        watch.look();
        assertDone("promote 1", "promote 3");
    }

    @Test
    void aMasterAfterWhomAnEarlierOneHasClaimedClaimsAgain() throws StartRefused {
        watch(Role.SLAVE, TailCheck.Policy.KEEP);
        group.epoch = 3;
        watch.changed(Role.MASTER);
        keys.overtaken = true;
        watch.look();
        assertDone("promote 3", "promote 3");
    }

    @Test
    void whatIsReadLateAfterAPromotionIsLoweredThen() throws StartRefused {
        watch(Role.SLAVE, TailCheck.Policy.END).beforeServing();
        keys.read = false;
        watch.changed(Role.MASTER);
        watch.look();
        assertDone("promote 0");
        keys.read = true; // the cluster is back
        watch.look();
        watch.look();
        assertDone("promote 0", "lower {orders@billing queue 0=10}");
    }

    @Test
    void whatIsReadLateAfterAStartAloneIsLoweredThen() throws StartRefused {
        offset = 10; // of the file
        keys.read = false;
        watch(Role.MASTER, TailCheck.Policy.END).beforeServing();
        offset = 12; // of the cluster
        watch.look();
        assertDone();
        keys.read = true;
        watch.look();
        watch.look();
        assertDone("lower {orders@billing queue 0=10}");
    }

    @Test
    void aSlaveLearnsFromItsMasterWhichStoreItHolds() throws StartRefused {
        watch(Role.SLAVE, TailCheck.Policy.END);
        watch.askMaster();
        assertEquals("", store.known());
        group.master = "10.0.0.1:10911";
        watch.askMaster();
        assertEquals(STORE, store.known());
    }

    @Test
    void aSlaveLearnsThatItsMasterHasReadTheCluster() throws StartRefused {
        keys.settled = false;
        watch(Role.SLAVE, TailCheck.Policy.END);
        group.master = "10.0.0.1:10911";
        watch.askMaster();
        assertDone();
        group.readCluster = "c";
        watch.askMaster();
        watch.askMaster();
        assertDone("settle by c");
    }

    @Test
    void whoIsNotSettledAsksEachSecond() throws StartRefused {
        keys.settled = false;
        group.master = "10.0.0.1:10911";
        watch(Role.SLAVE, TailCheck.Policy.END).beforeServing();
        assertTimeoutPreemptively(Duration.ofSeconds(9), () -> {
            while (group.asked.get() < 3) {
                Thread.sleep(10);
            }
        });
    }

    @Test
    void aMasterAsksNobody() throws StartRefused {
        watch(Role.MASTER, TailCheck.Policy.END);
        group.master = "10.0.0.1:10911";
        watch.askMaster();
        assertEquals("", store.known());
    }

    private static final class FakeGroup implements RoleWatch.Group {
        final AtomicInteger asked = new AtomicInteger();
        volatile String readCluster = "";
        volatile int epoch;
        volatile String master;

        @Override
        public int epoch() {
            return epoch;
        }

        @Override
        public Object lock() {
            return this;
        }

        @Override
        public String master() {
            return master;
        }

        @Override
        public MasterState stateOf(String address) {
            asked.incrementAndGet();
            return new MasterState(STORE, readCluster);
        }
    }

    private static final class OneQueue implements QueueEnds {
        @Override
        public boolean empty() {
            return false;
        }

        @Override
        public OptionalLong end(String topic, int queue) {
            return OptionalLong.of(10);
        }
    }

    private static final class Quiet implements Log {
        @Override
        public void info(String line) {
        }

        @Override
        public void warn(String line) {
        }

        @Override
        public void error(String line, Throwable cause) {
        }
    }
}
