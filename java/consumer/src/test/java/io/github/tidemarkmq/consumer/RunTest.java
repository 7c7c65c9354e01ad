package io.github.tidemarkmq.consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Runs of sending, debts, reads and missed acts, step by step, in one thread. */
class RunTest extends Steps {
    @Test
    void onlyWhatChangedIsSent() throws TidemarkException {
        read(KEY);
        read(OTHER);
        table.update(KEY, 10, true);
        assertEquals(Collections.singletonMap(KEY, 10L), run().persisted);
        assertEquals(10, fake.offset(KEY));
        assertEquals(-1, fake.offset(OTHER));
        assertTrue(run().persisted.isEmpty());
        assertEquals(1, fake.commits());
    }

    @Test
    void aQueueThatWasNeverReadIsNamedAndNotSent() throws TidemarkException {
        table.update(KEY, 10, true);
        assertEquals(Collections.singletonMap(KEY, 10L), run().unread);
        assertEquals(-1, fake.offset(KEY));
        assertEquals(0, fake.commits());
    }

    @Test
    void aResetFencesTheCommitThatMissedIt() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        table.update(KEY, 60, true);
        fake.reset(KEY, 20);
        Findings f = run();
        assertEquals(1, f.fences.size());
        assertEquals(Fence.Cause.MISSED_ACT, f.fences.get(0).fence.cause());
        assertEquals(60, f.fences.get(0).fence.offset().getAsLong());
        assertNull(f.failure());
        assertEquals(20, fake.offset(KEY));
        assertEquals(QueueProgress.NONE, table.memory(KEY));
        table.update(KEY, 70, true);
        assertTrue(run().persisted.isEmpty());
        table.remove(KEY);
        read(KEY);
        assertEquals(20, table.memory(KEY));
        table.update(KEY, 21, true);
        run();
        assertEquals(21, fake.offset(KEY));
    }

    @Test
    void aForwardResetIsNotUndoneByALowering() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        fake.reset(KEY, 400);
        table.update(KEY, 40, false);
        assertEquals(1, run().fences.size());
        assertEquals(400, fake.offset(KEY));
    }

    @Test
    void aLoweringOnPurposeTravelsAsASet() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        table.update(KEY, 30, false);
        run();
        assertEquals(30, fake.offset(KEY));
        assertEquals(1, fake.sets());
        table.update(KEY, 35, true);
        run();
        assertEquals(35, fake.offset(KEY));
    }

    @Test
    void aLoweringThatACommitOvertookIsNotDone() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        fake.commit(KEY, 55);
        table.update(KEY, 30, false);
        Findings f = run();
        assertEquals(Fence.Cause.OVERTAKEN, f.fences.get(0).fence.cause());
        assertEquals(55, fake.offset(KEY));
    }

    @Test
    void aLoweringWhoseOutcomeIsUnknownFreezesTheQueue() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        table.update(KEY, 30, false);
        fake.losing(Code.OUTCOME_UNKNOWN);
        assertEquals(Fence.Cause.UNKNOWN, run().fences.get(0).fence.cause());
    }

    @Test
    void whatTheClusterCouldNotTakeIsSentByTheNextRun() throws TidemarkException {
        read(KEY);
        table.update(KEY, 10, true);
        fake.failing(Code.UNREACHABLE);
        assertEquals(Code.UNREACHABLE, run().failure().code());
        fake.failing(null);
        run();
        assertEquals(10, fake.offset(KEY));
    }

    @Test
    void aQueueThatLeavesIsPersistedAllTheSame() throws TidemarkException {
        read(KEY);
        table.update(KEY, 10, true);
        fake.failing(Code.NO_LEADER);
        run();
        assertTrue(table.remove(KEY));
        assertEquals(QueueProgress.NONE, table.memory(KEY));
        assertThrows(TidemarkException.class, () -> table.beginRead(KEY, now()));
        fake.failing(null);
        run();
        assertEquals(10, fake.offset(KEY));
        assertFalse(table.owes(KEY));
        read(KEY);
        assertEquals(10, table.memory(KEY));
    }

    @Test
    void aLoweringOfAQueueThatLeftIsDoneAllTheSame() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        table.freeze(KEY, 5);
        fake.failing(Code.UNREACHABLE);
        run();
        table.remove(KEY);
        fake.failing(null);
        run();
        assertEquals(5, fake.offset(KEY));
    }

    @Test
    void aDebtThatAnActMetIsGivenUpAndTold() throws TidemarkException {
        read(KEY);
        table.update(KEY, 10, true);
        table.remove(KEY);
        fake.reset(KEY, 3);
        Findings f = run();
        assertEquals(1, f.lost.size());
        assertTrue(f.fences.isEmpty());
        assertFalse(table.owes(KEY));
        assertEquals(3, fake.offset(KEY));
    }

    @Test
    void actsOnIdleQueuesAreNoticed() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        read(OTHER);
        assertTrue(look().fences.isEmpty());
        fake.reset(KEY, 20);
        Findings f = look();
        assertEquals(1, f.fences.size());
        assertEquals(KEY, f.fences.get(0).key);
        assertEquals(20, f.fences.get(0).fence.state().position().offset());
        assertTrue(look().fences.isEmpty());
    }

    @Test
    void withoutAnActOneQueueIsAskedAbout() throws TidemarkException {
        read(KEY);
        read(OTHER);
        look();
        int before = fake.fetches();
        look();
        assertEquals(before + 1, fake.fetches());
    }

    @Test
    void anotherClusterFencesAll() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        table.update(KEY, 60, true);
        fake.replace();
        assertEquals(1, run().fences.size());
        assertEquals(-1, fake.offset(KEY));
    }

    @Test
    void aRemovalIsAFenceAndThenNoOffset() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        fake.remove(KEY);
        assertEquals(1, look().fences.size());
        table.remove(KEY);
        read(KEY);
        assertEquals(QueueProgress.NONE, table.memory(KEY));
        table.update(KEY, 5, true);
        run();
        assertEquals(5, fake.offset(KEY));
    }

    @Test
    void aReadThatIsNotTheFirstTakesOverNothing() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        fake.reset(KEY, 20);
        read(KEY);
        assertEquals(50, table.memory(KEY));
        table.update(KEY, 60, true);
        assertEquals(1, run().fences.size());
        assertEquals(20, fake.offset(KEY));
    }

    @Test
    void aRemovedReadTakesOverNothing() throws TidemarkException {
        fake.commit(KEY, 50);
        Object read = table.beginRead(KEY, soon());
        FetchAnswer a = fake.cluster().fetch(Collections.singletonList(KEY), ReadAt.LINEARIZABLE, soon());
        table.remove(KEY);
        table.took(KEY, read, a.states().get(0), a.meta());
        assertEquals(QueueProgress.NONE, table.memory(KEY));
    }

    @Test
    void anExactOffsetIsPersistedAndLeavesTheMemoryAlone() throws Exception {
        fake.commit(KEY, 10);
        read(KEY);
        Exact exact = new Exact(KEY, 30);
        run(exact);
        exact.decided.get();
        assertEquals(30, fake.offset(KEY));
        assertEquals(10, table.memory(KEY));
        Exact lower = new Exact(KEY, 4);
        run(lower);
        lower.decided.get();
        assertEquals(4, fake.offset(KEY));
        assertEquals(4, table.memory(KEY));
    }

    @Test
    void anExactOffsetOfUnknownOutcomeIsSentAgainThoughTheMemoryIsBelowIt() throws TidemarkException {
        fake.commit(KEY, 900);
        read(KEY);
        fake.failing(Code.OUTCOME_UNKNOWN);
        run(new Exact(KEY, 1000));
        assertTrue(table.remove(KEY));
        assertEquals(Collections.singletonMap(KEY, 1000L), table.unsaid());
        fake.failing(null);
        run();
        assertEquals(1000, fake.offset(KEY));
        run();
        assertFalse(table.owes(KEY));
        assertEquals(1000, fake.offset(KEY));
    }

    @Test
    void whoWaitsForAnExactOffsetIsToldWithoutALock() throws TidemarkException {
        Exact unread = new Exact(OTHER, 4);
        List<String> told = new ArrayList<>();
        unread.decided.whenComplete((done, why) -> told.add(Thread.holdsLock(table) + " " + why.getMessage()));
        run(unread);
        assertEquals(Collections.singletonList("false the queue was never read from the store: read it first"), told);
    }

    @Test
    void aRunThatIsCutShortSaysOfNoExactOffsetThatItIsPersisted() throws TidemarkException {
        read(KEY);
        Exact exact = new Exact(KEY, 30);
        Cluster broken = (Cluster) Proxy.newProxyInstance(Cluster.class.getClassLoader(),
            new Class<?>[] {Cluster.class}, (proxy, method, args) -> {
                throw new NoSuchMethodError("as with a client of another version");
            });
        table.exactly(exact);
        Run run = new Run(table, broken, soon());
        assertThrows(NoSuchMethodError.class, run::go);
        Throwable why = assertThrows(ExecutionException.class, exact.decided::get).getCause();
        assertEquals(Code.OUTCOME_UNKNOWN, ((TidemarkException) why).code());
    }

    @Test
    void whatWaitsToBePersistedAsItIsHasABoundAndHoldsReads() throws TidemarkException {
        for (int i = 0; i < ProgressTable.MOST_EXACT; i++) {
            table.exactly(new Exact(KEY, i));
        }
        TidemarkException e =
            assertThrows(TidemarkException.class, () -> table.exactly(new Exact(OTHER, 0)));
        assertEquals(Code.BUSY, e.code());
        assertThrows(TidemarkException.class, () -> table.beginRead(KEY, now()));
        for (int i = 0; i < ProgressTable.MOST_EXACT; i++) {
            assertTrue(table.exactsWait());
            run();
        }
        assertFalse(table.exactsWait());
        table.exactly(new Exact(OTHER, 0));
        read(KEY);
    }

    @Test
    void manyQueuesTravelInSeveralRequests() throws TidemarkException {
        for (int i = 0; i < Run.MOST + 1; i++) {
            OffsetKey key = new OffsetKey("billing", "orders", "b1", i);
            read(key);
            table.update(key, i, true);
        }
        assertEquals(Run.MOST + 1, run().persisted.size());
        assertEquals(2, fake.commits());
    }
}
