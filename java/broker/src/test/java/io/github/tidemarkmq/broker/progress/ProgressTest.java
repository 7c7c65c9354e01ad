package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.client.ActHeader;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyFilter;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.Scope;
import io.github.tidemarkmq.client.Target;
import io.github.tidemarkmq.client.TestCluster;
import io.github.tidemarkmq.client.TidemarkException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Against one real node: the ways of a commit, a start, a reset, a removal. */
class ProgressTest {
    private static TestCluster nodes;
    private static Cluster cluster;

    @TempDir
    Path folder;

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

    private final Key key = new Key("orders", "billing", 3);

    private Stand stand(TestInfo test) {
        return new Stand(cluster, folder, test.getTestMethod().get().getName(), "C/1");
    }

    private static Deadline soon() {
        return Deadline.after(20, TimeUnit.SECONDS);
    }

    private static ActHeader act() throws Exception {
        Meta m = cluster.listKeys(KeyFilter.ALL, null, 1, ReadAt.LINEARIZABLE, soon()).meta();
        return ActHeader.after(m);
    }

    @Test
    void commitsAreDurableAndSurviveARestart(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            assertEquals(OptionalLong.empty(), s.progress.query(key));
            assertEquals(Decision.DURABLE, s.ask(key, 5, "c1"));
            assertEquals(Decision.DURABLE, s.ask(key, 7, "c1"));
            assertEquals(OptionalLong.of(7), s.progress.query(key));
            assertEquals(OptionalLong.of(7), s.storedOffset(key));
            s.kill();
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(7), s.progress.query(key));
            assertEquals(Decision.DURABLE, s.ask(key, 9, "c2"));
            assertEquals(OptionalLong.of(9), s.storedOffset(key));
        }
    }

    @Test
    void whatLowersIsASetAndCounted(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            s.ask(key, 100, "c1");
            assertEquals(Decision.DURABLE, s.ask(key, 40, "c1"));
            assertEquals(OptionalLong.of(40), s.storedOffset(key));
            assertEquals(1, s.progress.counters().lowered);
            assertEquals(Decision.DURABLE, s.ask(key, 41, "c1"));
            assertEquals(OptionalLong.of(41), s.storedOffset(key));
            Stand.await("the line", () -> s.lines.stream().anyMatch(l -> l.contains("from 100 to 40 by c1")));
        }
    }

    @Test
    void anOperatorsResetIsAssignedAndFollowed(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            s.ask(key, 100, "c1");
            cluster.reset(act(), Collections.singletonList(new Target(OffsetKeys.of(key, s.options.broker), 10)), soon());
            Stand.await("the reset is assigned", () -> Long.valueOf(10).equals(s.assigned.get(key)));
            assertEquals(OptionalLong.of(10), s.progress.query(key));
            assertEquals(Decision.RESET, s.ask(key, 101, "c1"));
            assertTrue(s.stored(key).position().pending());
            assertFalse(s.progress.followed(key, 11, "c1"));
            assertTrue(s.progress.followed(key, 10, "c1"));
            Stand.await("pending is cleared", () -> s.progress.counters().marked == 0);
            assertFalse(s.stored(key).position().pending());
            assertEquals(OptionalLong.of(10), s.storedOffset(key));
            assertEquals(Decision.DURABLE, s.ask(key, 12, "c1"));
            assertEquals(OptionalLong.of(12), s.storedOffset(key));
            assertEquals(Decision.RESET, s.ask(key, 90, "old"), "another connection rests on what was before");
        }
    }

    @Test
    void aResetThroughTheBroker(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            s.ask(key, 100, "c1");
            s.progress.assign(Collections.singletonMap(key, 30L));
            assertEquals(Long.valueOf(30), s.assigned.get(key));
            assertEquals(OptionalLong.of(30), s.progress.query(key));
            assertEquals(OptionalLong.of(30), s.progress.assigned(key));
            assertEquals(OptionalLong.of(30), s.storedOffset(key));
            s.kill();
            s.assigned.clear();
            s.start(Role.MASTER);
            Stand.await("it is assigned again after a kill", () -> Long.valueOf(30).equals(s.assigned.get(key)));
        }
    }

    @Test
    void aResetThatWasTakenAndNotFollowedIsAssignedAgain(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            s.ask(key, 100, "c1");
            s.progress.assign(Collections.singletonMap(key, 30L));
            s.assigned.clear();
            assertFalse(s.progress.assignAgain(key, 31), "another one is assigned");
            assertTrue(s.progress.assignAgain(key, 30));
            Stand.await("it is assigned again", () -> Long.valueOf(30).equals(s.assigned.get(key)));
            assertEquals(1, s.progress.counters().resetsOpen);
            assertTrue(s.progress.followed(key, 30, "c2"));
            assertFalse(s.progress.assignAgain(key, 30), "it was followed");
            assertEquals(Decision.DURABLE, s.ask(key, 31, "c2"));
        }
    }

    @Test
    void aKeyThatWasMovedIsClosedAlsoAfterAKill(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            Key to = new Key("orders", "audit", 3);
            s.ask(key, 10, "c1");
            s.ask(to, 100, "c1");
            s.progress.cloneGroup("billing", "audit", "orders"); // leaves no pending mark
            assertEquals(OptionalLong.of(10), s.progress.query(to));
            long moved = s.stored(to).position().epoch();
            Stand.await("the broker has followed beyond it", () -> s.progress.mark().index >= moved);
            s.persist();
            s.kill();
            s.start(Role.MASTER);
            assertEquals(Decision.RESET, s.ask(to, 101, "c2"), "it does not know of the clone");
            assertTrue(s.progress.followed(to, 10, "c2"));
            assertEquals(Decision.DURABLE, s.ask(to, 11, "c2"));
            s.persist();
            s.kill();
            s.start(Role.MASTER);
            assertEquals(Decision.DURABLE, s.ask(to, 12, "c3"), "its consumer has followed");
        }
    }

    /** As cloneGroupOffset and resetOffsetByTimeOld send: two-way, over a connection that has read nothing. */
    private static Decision tool(Stand s, Key key, long offset) {
        Stand.Late<Decision> d = new Stand.Late<>();
        s.progress.commit(Commit.operators(key, offset, "tool", 0, d::set));
        return d.get();
    }

    @Test
    void noMoveClosesAKeyToAnOperator(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            s.ask(key, 100, "c1");
            s.progress.assign(Collections.singletonMap(key, 10L));
            assertEquals(Decision.RESET, tool(s, key, 50), "a reset is assigned");
            assertTrue(s.progress.followed(key, 10, "c1"));
            s.assigned.clear();
            assertEquals(Decision.DURABLE, tool(s, key, 60));
            assertEquals(OptionalLong.of(60), s.storedOffset(key));
            assertEquals(Decision.DURABLE, tool(s, key, 20));
            assertEquals(OptionalLong.of(20), s.storedOffset(key));
            assertEquals(Decision.DURABLE, s.ask(key, 21, "c1"), "who has followed goes on");
            assertEquals(Collections.emptyMap(), s.assigned, "and is not moved");
            assertEquals(Decision.RESET, s.ask(key, 90, "old"), "the key is opened to no consumer by it");
        }
    }

    @Test
    void whatAnOperatorLowersStaysLowThoughAClosedConnectionCommits(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            Tape log = new Tape();
            s.start(Role.MASTER, log);
            s.ask(key, 100, "c1");
            s.progress.assign(Collections.singletonMap(key, 100L));
            assertTrue(s.progress.followed(key, 100, "c1"));
            Stand.await("the reset is over", () -> s.progress.counters().marked == 0);
            Stand.Late<Decision> tools = new Stand.Late<>();
            s.progress.commit(Commit.operators(key, 50, "tool", 2_000, tools::set)); // waits for the log
            assertEquals(Decision.CLOSED, s.ask(key, 101, "c2"), "a reset to 50 would overtake the lowering");
            log.moveTo(2_000);
            assertEquals(Decision.DURABLE, tools.get());
            assertEquals(OptionalLong.of(50), s.storedOffset(key));
            assertEquals(Decision.RESET, s.ask(key, 101, "c2"));
            assertTrue(s.progress.followed(key, 50, "c2"));
            assertEquals(Decision.DURABLE, s.ask(key, 51, "c2"));
            assertEquals(OptionalLong.of(51), s.storedOffset(key));
        }
    }

    @Test
    void whatAnOperatorSaysOfAClosedKeyOutlivesAStop(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            Key to = new Key("orders", "audit", 3);
            s.ask(key, 10, "c1");
            s.ask(to, 100, "c1");
            s.progress.cloneGroup("billing", "audit", "orders");
            long moved = s.stored(to).position().epoch();
            Stand.await("the broker has followed beyond it", () -> s.progress.mark().index >= moved);
            s.progress.close(0, TimeUnit.MILLISECONDS); // nothing is sent any more
            assertTrue(s.progress.commit(Commit.operators(to, 40, "tool", 0, d -> { })));
            s.persist();
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(40), s.storedOffset(to));
            assertEquals(Decision.RESET, s.ask(to, 101, "c1"), "it is closed to consumers still");
        }
    }

    @Test
    void connectionsThatCountAsOneOpenAKeyToEachOther(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.options.peers = (client, group) -> client.startsWith("proxy:") ? "proxy" : null;
            s.start(Role.MASTER);
            s.ask(key, 100, "c1");
            s.progress.assign(Collections.singletonMap(key, 10L));
            assertTrue(s.progress.followed(key, 10, "proxy:1"));
            assertEquals(Decision.DURABLE, s.ask(key, 11, "proxy:2"));
            assertEquals(Decision.RESET, s.ask(key, 90, "c1"));
            assertEquals(Decision.RESET, s.ask(key, 12, "proxy:3"), "a reset is assigned, to all");
            assertTrue(s.progress.followed(key, 11, "c1"));
            assertEquals(Decision.DURABLE, s.ask(key, 12, "proxy:3"));
            s.progress.forget("proxy");
            assertEquals(Decision.RESET, s.ask(key, 13, "proxy:4"));
            assertTrue(s.progress.followed(key, 12, "c1"));
            assertEquals(Decision.RESET, s.ask(key, 13, "proxy:5"), "c1 has followed what the host has missed");
        }
    }

    @Test
    void aHostIsToldAgainAfterItWasForgotten(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.options.peers = (client, group) -> client.startsWith("proxy:") ? "proxy" : null;
            s.start(Role.MASTER);
            s.ask(key, 100, "c1");
            s.progress.assign(Collections.singletonMap(key, 10L));
            assertTrue(s.progress.followed(key, 10, "c1"));
            for (int i = 0; i < 3; i++) {
                assertEquals(Decision.RESET, s.ask(key, 90, "proxy:1"));
                assertTrue(s.progress.followed(key, 10 + i, "proxy:1"));
                assertEquals(Decision.DURABLE, s.ask(key, 11 + i, "proxy:2"));
                s.progress.forget("proxy:1");
                s.progress.forget("proxy:2");
                s.progress.forget("proxy");
            }
            assertEquals(Decision.RESET, s.ask(key, 90, "old"));
            assertTrue(s.progress.followed(key, 13, "c1"));
            assertEquals(Decision.CLOSED, s.ask(key, 90, "old"), "a connection that stands for itself is told once");
        }
    }

    @Test
    void whatSomebodyElseMovesDuringARemovalIsLeftAloneAndSaid(TestInfo test) throws Exception {
        Key moved = new Key("orders", "billing", 4);
        String broker = test.getTestMethod().get().getName();
        AtomicBoolean due = new AtomicBoolean(true);
        Cluster busy = (Cluster) Proxy.newProxyInstance(ProgressTest.class.getClassLoader(),
            new Class<?>[] {Cluster.class}, (proxy, called, args) -> {
                if (called.getName().equals("remove") && due.getAndSet(false)) {
                    cluster.reset(act(), Collections.singletonList(new Target(OffsetKeys.of(moved, broker), 7)), soon());
                }
                try {
                    return called.invoke(cluster, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
        try (Stand s = new Stand(busy, folder, broker, "C/1")) {
            s.start(Role.MASTER);
            s.ask(key, 100, "c1");
            s.ask(moved, 100, "c1");
            ActFailed e = assertThrows(ActFailed.class, () -> s.progress.removeGroup("billing"));
            assertTrue(e.getMessage().contains("left alone; 1 were removed"), e.getMessage());
            assertEquals(OptionalLong.empty(), s.progress.query(key));
            assertEquals(OptionalLong.of(7), s.progress.query(moved));
            assertEquals(Long.valueOf(7), s.assigned.get(moved));
            s.progress.removeGroup("billing");
            assertEquals(OptionalLong.empty(), s.progress.query(moved));
        }
    }

    @Test
    void aPullThatComesLateLowersNothing(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            s.ask(key, 100, "c1");
            assertFalse(s.progress.commit(Commit.of(key, 90, Origin.PULL, "c1", 0)));
            assertTrue(s.progress.commit(Commit.of(key, 110, Origin.PULL, "c1", 0)));
            assertEquals(OptionalLong.of(110), s.progress.query(key));
            assertEquals(0, s.progress.counters().lowered);
        }
    }

    @Test
    void whatIsRemovedLeavesTheTable(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            Key other = new Key("refunds", "billing", 0);
            Key kept = new Key("orders", "search", 0);
            s.ask(key, 100, "c1");
            s.ask(other, 1, "c1");
            s.ask(kept, 2, "c1");
            cluster.remove(act(), Scope.topic("billing", "orders").ofBroker(s.options.broker), soon());
            Stand.await("a removal by others is seen", () -> !s.progress.query(key).isPresent());
            s.progress.removeGroup("billing");
            assertEquals(OptionalLong.empty(), s.progress.query(other));
            assertEquals(OptionalLong.empty(), s.storedOffset(other));
            assertEquals(OptionalLong.of(2), s.storedOffset(kept));
            assertEquals(Decision.CLOSED, s.ask(key, 101, "c1"));
            s.progress.opened(key, "c1", s.progress.query(key));
            assertEquals(Decision.DURABLE, s.ask(key, 3, "c1"));
            assertEquals(OptionalLong.of(3), s.storedOffset(key));
        }
    }

    @Test
    void aCloneIsReadAtOnce(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            s.ask(key, 100, "c1");
            s.progress.cloneGroup("billing", "audit", "orders");
            assertEquals(OptionalLong.of(100), s.progress.query(new Key("orders", "audit", 3)));
        }
    }

    @Test
    void theFirstStartImportsTheFile(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.write("\"offsetTable\":{\"orders@billing\":{0:17,3:9,},\"T@CID_RMQ_SYS_REVIVE\":{0:5}}");
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(9), s.progress.query(key));
            assertEquals(OptionalLong.of(9), s.storedOffset(key));
            assertEquals(Decision.DURABLE, s.ask(key, 10, "c1"));
            s.persist();
            s.kill();
            s.start(Role.MASTER);
            s.persistPlain();
            s.kill();
            StartRefused e = assertThrows(StartRefused.class, () -> s.start(Role.MASTER));
            assertTrue(e.getMessage().contains("tidemarkUnmarkedFile=merge"), e.getMessage());
            s.options.unmarked = Options.Unmarked.MERGE;
            s.write("\"offsetTable\":{\"orders@billing\":{0:20,3:8}}");
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(10), s.progress.query(key));
            Key q0 = new Key("orders", "billing", 0);
            assertEquals(OptionalLong.of(20), s.progress.query(q0));
            assertTrue(s.progress.drain(20, TimeUnit.SECONDS));
            assertEquals(OptionalLong.of(20), s.storedOffset(q0));
        }
    }

    @Test
    void aNamesakeIsRefusedUnlessTold(TestInfo test) throws Exception {
        try (Stand s = stand(test); Stand other = new Stand(cluster, folder, s.options.broker, "C/2")) {
            s.start(Role.MASTER);
            s.ask(key, 5, "c1");
            StartRefused e = assertThrows(StartRefused.class, () -> other.start(Role.MASTER));
            assertTrue(e.getMessage().contains("belongs to \"C/1\""), e.getMessage());
            assertEquals(Decision.DURABLE, s.ask(key, 6, "c1"), "who was refused fenced nobody");
            other.options.takeOver = true;
            other.start(Role.MASTER);
            assertEquals(OptionalLong.of(6), other.progress.query(key));
        }
    }

    @Test
    void anOldMasterIsFencedAndStops(TestInfo test) throws Exception {
        try (Stand old = stand(test); Stand young = new Stand(cluster, folder, old.options.broker, "C/1")) {
            old.start(Role.MASTER);
            Key idle = new Key("orders", "billing", 4);
            old.ask(key, 5, "c1");
            old.ask(idle, 50, "c1");
            young.start(Role.MASTER);
            assertEquals(Decision.CLOSED, old.ask(key, 99, "c1"));
            Stand.await("the others are lost within a look", () -> old.progress.counters().lost == 2);
            assertFalse(old.commit(idle, 51, "c1"));
            assertEquals(OptionalLong.of(50), old.progress.query(idle), "answered from memory as before");
            assertThrows(ActFailed.class, () -> old.progress.assign(Collections.singletonMap(idle, 1L)));
            assertEquals(OptionalLong.of(5), young.storedOffset(key));
            assertEquals(Decision.DURABLE, young.ask(key, 6, "c1"));
        }
    }

    @Test
    void aSlaveRaisesFollowsAndIsPromoted(TestInfo test) throws Exception {
        try (Stand master = stand(test); Stand slave = new Stand(cluster, folder, master.options.broker, "C/1")) {
            master.start(Role.MASTER);
            master.ask(key, 10, "c1");
            slave.start(Role.SLAVE);
            assertEquals(OptionalLong.of(10), slave.progress.query(key));
            assertEquals(Decision.DURABLE, slave.ask(key, 12, "c1"));
            assertEquals(Decision.LOWER_AT_SLAVE, slave.ask(key, 11, "c1"));
            Stand.await("the master follows", () -> master.progress.query(key).equals(OptionalLong.of(12)));
            assertEquals(Decision.DURABLE, master.ask(key, 13, "c1"));
            Stand.Late<OptionalLong> read = new Stand.Late<>();
            slave.progress.read(key, "c1", (offset, certain) -> read.set(offset));
            assertEquals(OptionalLong.of(13), read.get());
            master.progress.assign(Collections.singletonMap(key, 3L));
            Stand.await("the slave follows a reset", () -> slave.progress.query(key).equals(OptionalLong.of(3)));
            assertEquals(Decision.CLOSED, slave.ask(key, 14, "c1"), "it has not read the key since");
            Stand.Late<OptionalLong> again = new Stand.Late<>();
            slave.progress.read(key, "c1", (offset, certain) -> again.set(offset));
            assertEquals(OptionalLong.of(3), again.get());
            assertEquals(Decision.DURABLE, slave.ask(key, 4, "c1"));
            slave.progress.promote(0);
            assertEquals(OptionalLong.of(4), slave.progress.query(key));
            assertEquals(Decision.DURABLE, slave.ask(key, 5, "c1"));
            assertEquals(Decision.DURABLE, slave.ask(key, 2, "c1"), "a master lowers");
            Stand.await("the old master is lost", () -> master.progress.counters().lost == 1);
            master.progress.demote();
            Stand.await("it follows as a slave", () -> master.progress.query(key).equals(OptionalLong.of(2)));
        }
    }

    @Test
    void whatWasNotSentGoesOutAtTheNextStart(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            Key lowered = new Key("orders", "billing", 4);
            Key moved = new Key("orders", "billing", 5);
            for (Key k : new Key[] {key, lowered, moved}) {
                s.ask(k, 100, "c1");
            }
            s.progress.close(0, TimeUnit.MILLISECONDS); // nothing is sent any more
            s.commit(key, 110, "c1");
            s.commit(lowered, 90, "c1");
            s.commit(moved, 120, "c1");
            s.persist();
            assertEquals(OptionalLong.of(100), s.storedOffset(key));
            cluster.reset(act(), Collections.singletonList(new Target(OffsetKeys.of(moved, s.options.broker), 7)),
                soon());
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(110), s.progress.query(key));
            assertEquals(OptionalLong.of(90), s.progress.query(lowered));
            assertEquals(OptionalLong.of(7), s.progress.query(moved), "moved while it was away");
            assertEquals(Decision.DURABLE, s.ask(key, 111, "c2"));
            assertEquals(Decision.RESET, s.ask(moved, 121, "c2"));
        }
    }

    @Test
    void aLeftoverThatTheClusterRefusesEndsNoStart(TestInfo test) throws Exception {
        AtomicReference<Code> refusal = new AtomicReference<>();
        Cluster strict = refusing("commit", refusal::get, args -> ((List<?>) args[1]).stream()
            .anyMatch(c -> ((io.github.tidemarkmq.client.Commit) c).key().group().equals("secret")));
        try (Stand s = new Stand(strict, folder, test.getTestMethod().get().getName(), "C/1")) {
            Key secret = new Key("orders", "secret", 0);
            Key moved = new Key("orders", "secret", 1);
            s.start(Role.MASTER);
            for (Key k : new Key[] {key, secret, moved}) {
                s.ask(k, 100, "c1");
            }
            s.progress.close(0, TimeUnit.MILLISECONDS); // nothing is sent any more
            for (Key k : new Key[] {key, secret, moved}) {
                s.commit(k, 110, "c1");
            }
            s.persist();
            cluster.reset(act(), Collections.singletonList(new Target(OffsetKeys.of(moved, s.options.broker), 7)),
                soon());
            for (Code code : new Code[] {Code.LIMIT, Code.DENIED}) {
                refusal.set(code);
                s.start(Role.MASTER);
                assertEquals(OptionalLong.of(110), s.storedOffset(key), code + " blames another");
                assertEquals(OptionalLong.of(110), s.progress.query(secret));
                assertEquals(OptionalLong.of(100), s.storedOffset(secret));
                assertEquals(OptionalLong.of(7), s.progress.query(moved), "moved while it was away");
                s.kill();
                s.persist();
            }
            refusal.set(null);
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(110), s.storedOffset(secret));
            assertEquals(OptionalLong.of(7), s.storedOffset(moved));
        }
    }

    @Test
    void firstValuesOfAKeyThatCouldNotBeReadAreMergedAtTheNextStart(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            s.start(Role.MASTER);
            Key raised = new Key("orders", "billing", 4);
            s.progress.close(0, TimeUnit.MILLISECONDS); // nothing is read any more
            s.commit(key, 110, "c1");
            s.commit(raised, 20, "c1");
            s.persist();
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(110), s.progress.query(key), "though the cluster has no key of this broker");
            assertEquals(Decision.DURABLE, s.ask(raised, 25, "c2"));
            assertTrue(s.progress.drain(20, TimeUnit.SECONDS));
            assertEquals(OptionalLong.of(110), s.storedOffset(key));
            s.kill();
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(25), s.progress.query(raised), "the larger one stays");
        }
    }

    @Test
    void valuesRestOnTheLog(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            Tape log = new Tape();
            s.start(Role.MASTER, log);
            s.ask(key, 5, "c1");
            s.progress.commit(Commit.of(key, 9, Origin.POP, "", 1_000));
            Stand.Late<Decision> late = new Stand.Late<>();
            s.progress.commit(Commit.twoWay(key, 12, "c1", 2_000, late::set));
            assertEquals(OptionalLong.of(12), s.progress.query(key));
            Stand.await("the flush is asked for", () -> log.wanted == 2_000);
            assertEquals(OptionalLong.of(5), s.storedOffset(key));
            log.moveTo(1_500);
            Stand.await("the older value is sent", () -> s.progress.counters().acknowledged == 2);
            assertEquals(OptionalLong.of(9), s.storedOffset(key));
            log.moveTo(2_000);
            assertEquals(Decision.DURABLE, late.get());
            assertEquals(OptionalLong.of(12), s.storedOffset(key));
        }
    }

    @Test
    void whoWaitsHasTheLogFlushedAtOnce(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            Tape log = new Tape();
            s.start(Role.MASTER, log);
            Stand.Late<Decision> first = new Stand.Late<>();
            s.progress.commit(Commit.twoWay(key, 12, "c1", 2_000, first::set)); // of a key that is not read yet
            assertEquals(2_000, log.wanted);
            assertFalse(s.progress.drain(100, TimeUnit.MILLISECONDS), "it waits for the log");
            log.moveTo(2_000);
            assertEquals(Decision.DURABLE, first.get());
            assertTrue(s.progress.drain(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void aGroupThatTheBrokerMayNotCommitHoldsNoOtherBack(TestInfo test) throws Exception {
        Cluster strict = refusing("commit", Code.DENIED, args -> ((List<?>) args[1]).stream()
            .anyMatch(c -> ((io.github.tidemarkmq.client.Commit) c).key().group().equals("secret")));
        try (Stand s = new Stand(strict, folder, test.getTestMethod().get().getName(), "C/1")) {
            s.start(Role.MASTER);
            s.commit(new Key("orders", "secret", 0), 1, "c1");
            for (int i = 0; i < 20; i++) {
                s.commit(new Key("orders", "billing", i), 5, "c1");
            }
            Stand.await("all but one are acknowledged", () -> s.progress.counters().acknowledged == 20);
            // Each key is told after all have been counted.
            Stand.await("one is left", () -> s.progress.counters().marked == 1);
        }
    }

    @Test
    void aBrokerThatStartedAloneDoesNothingOnPurposeAndStartsAgain(TestInfo test) throws Exception {
        AtomicBoolean away = new AtomicBoolean(true);
        Cluster half = refusing("claimOfBroker", Code.UNREACHABLE, args -> away.get());
        try (Stand s = new Stand(half, folder, test.getTestMethod().get().getName(), "C/1")) {
            s.options.startAlone = true;
            s.options.unmarked = Options.Unmarked.MERGE;
            s.write("\"offsetTable\":{\"orders@billing\":{3:9}}");
            s.start(Role.MASTER);
            assertThrows(ActFailed.class, () -> s.progress.assign(Collections.singletonMap(key, 1L)));
            assertTrue(s.commit(key, 12, "c1"));
            assertEquals(OptionalLong.empty(), s.storedOffset(key));
            s.persist();
            s.kill();
            away.set(false);
            s.options.unmarked = Options.Unmarked.REFUSE;
            s.start(Role.MASTER);
            assertEquals(OptionalLong.of(12), s.progress.query(key), "its mark names no cluster, and that it was alone");
            assertEquals(OptionalLong.of(12), s.storedOffset(key));
        }
    }

    /** The cluster, but for some calls of one method. */
    private static Cluster refusing(String method, Code code, Predicate<Object[]> which) {
        return refusing(method, () -> code, which);
    }

    private static Cluster refusing(String method, Supplier<Code> code, Predicate<Object[]> which) {
        return (Cluster) Proxy.newProxyInstance(ProgressTest.class.getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, called, args) -> {
                if (called.getName().equals(method) && code.get() != null && which.test(args)) {
                    throw new TidemarkException(code.get(), "as the test wants it");
                }
                try {
                    return called.invoke(cluster, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }

    /** A log that is durable as far as it is told. */
    private static final class Tape implements LogEnd {
        volatile long durable;
        volatile long wanted;
        private volatile Runnable moved;

        void moveTo(long position) {
            durable = position;
            moved.run();
        }

        @Override
        public long end() {
            return durable;
        }

        @Override
        public long durable() {
            return durable;
        }

        @Override
        public void want(long position, boolean soon) {
            wanted = soon ? position : wanted;
        }

        @Override
        public void onAdvance(Runnable r) {
            moved = r;
        }
    }

    @Test
    void aDamagedFileEndsTheStart(TestInfo test) throws Exception {
        try (Stand s = stand(test)) {
            Files.write(s.path, "{\"offsetTable\":{\"orders@billing\":{0:1.5}}}".getBytes("UTF-8"));
            StartRefused e = assertThrows(StartRefused.class, () -> s.start(Role.MASTER));
            assertTrue(e.getMessage().contains("line 1, column 37"), e.getMessage());
        }
    }
}
