package io.github.tidemarkmq.consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.Collections;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Offsets that are persisted as they are keep the order in which they were given, among themselves and with others. */
class ExactTest extends Steps {
    private void readAt(long offset) throws TidemarkException {
        fake.commit(KEY, offset);
        read(KEY);
    }

    private void give(Exact exact) {
        try {
            table.exactly(exact);
        } catch (TidemarkException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void oneThatWasGivenWhileAHigherCommitWasUnderWayIsNoLowering() throws Exception {
        readAt(50);
        table.update(KEY, 200, true);
        Exact exact = new Exact(KEY, 100);
        fake.during(() -> give(exact));
        run();
        assertEquals(200, fake.offset(KEY));
        run();
        exact.decided.get();
        assertEquals(200, fake.offset(KEY));
        assertEquals(200, table.memory(KEY));
        assertEquals(0, fake.sets());
    }

    @Test
    void whatTheMemorySaysLaterComesLater() throws Exception {
        readAt(50);
        Exact exact = new Exact(KEY, 100);
        give(exact);
        table.update(KEY, 200, true);
        run();
        exact.decided.get();
        assertEquals(100, fake.offset(KEY));
        run();
        assertEquals(200, fake.offset(KEY));
        assertEquals(0, fake.sets());
    }

    @Test
    void aLoweringOfTheMemoryWaitsForTheOffsetsThatWereGivenBefore() throws Exception {
        readAt(90);
        give(new Exact(KEY, 95));
        give(new Exact(KEY, 100));
        table.update(KEY, 50, false);
        run();
        assertEquals(95, fake.offset(KEY));
        run();
        assertEquals(50, fake.offset(KEY));
        run();
        assertEquals(50, fake.offset(KEY));
        assertEquals(50, table.memory(KEY));
    }

    @Test
    void oneBelowAnEarlierOneThatWaitsIsALowering() throws Exception {
        readAt(50);
        give(new Exact(KEY, 100));
        Exact lower = new Exact(KEY, 60);
        give(lower);
        assertEquals(60, table.memory(KEY));
        run();
        assertEquals(100, fake.offset(KEY));
        run();
        lower.decided.get();
        assertEquals(60, fake.offset(KEY));
        assertEquals(1, fake.sets());
    }

    @Test
    void progressAfterALoweringIsKept() throws Exception {
        readAt(100);
        give(new Exact(KEY, 60));
        table.update(KEY, 200, true);
        run();
        assertEquals(60, fake.offset(KEY));
        run();
        assertEquals(200, fake.offset(KEY));
        assertEquals(1, fake.sets());
    }

    @Test
    void aHigherOneReplacesALoweringThatWasNotSent() throws Exception {
        readAt(100);
        fake.failing(Code.UNREACHABLE);
        run(new Exact(KEY, 50));
        fake.failing(null);
        higherIsKept();
    }

    @Test
    void aHigherOneReplacesALoweringOfTheMemory() throws Exception {
        readAt(100);
        table.update(KEY, 50, false);
        higherIsKept();
    }

    private void higherIsKept() throws Exception {
        int before = fake.sets();
        Exact higher = new Exact(KEY, 120);
        run(higher);
        higher.decided.get();
        run();
        assertEquals(120, fake.offset(KEY));
        assertEquals(120, table.memory(KEY));
        assertEquals(before, fake.sets());
    }

    @Test
    void oneThatReplacedALoweringUndoesNoCommitOfAnother() throws Exception {
        readAt(100);
        table.update(KEY, 50, false);
        fake.commit(KEY, 500);
        run(new Exact(KEY, 120));
        run();
        assertEquals(500, fake.offset(KEY));
        assertEquals(0, fake.sets());
    }

    @Test
    void oneThatReplacedALoweringLowersWhatWasUnderWay() throws Exception {
        readAt(100);
        table.update(KEY, 200, true);
        fake.during(() -> {
            table.update(KEY, 50, false);
            give(new Exact(KEY, 120));
        });
        run();
        run();
        assertEquals(120, fake.offset(KEY));
        assertEquals(120, table.memory(KEY));
    }

    @Test
    void aLoweringBelowADoubtComesAfterIt() throws Exception {
        readAt(50);
        fake.failing(Code.OUTCOME_UNKNOWN);
        run(new Exact(KEY, 100));
        fake.failing(null);
        Exact lower = new Exact(KEY, 70);
        run(lower);
        lower.decided.get();
        assertEquals(70, fake.offset(KEY));
        assertEquals(1, fake.sets());
    }

    @Test
    void aLoweringThatIsNoneAtItsTurnIsACommit() throws Exception {
        readAt(50);
        give(new Exact(KEY, 100));
        Exact lower = new Exact(KEY, 60);
        give(lower);
        fake.failing(Code.UNREACHABLE);
        run();
        fake.failing(null);
        run();
        lower.decided.get();
        assertEquals(60, fake.offset(KEY));
        assertEquals(0, fake.sets());
    }

    @Test
    void oneOfAQueueThatLeftIsPersistedAllTheSame() throws Exception {
        readAt(50);
        Exact exact = new Exact(KEY, 100);
        give(exact);
        assertFalse(table.remove(KEY));
        assertThrows(TidemarkException.class, () -> table.beginRead(KEY, now()));
        run();
        exact.decided.get();
        read(KEY);
        assertEquals(100, table.memory(KEY));
    }

    @Test
    void aLoweringOfAQueueThatLeftIsDoneAllTheSame() throws Exception {
        readAt(100);
        Exact lower = new Exact(KEY, 60);
        give(lower);
        assertTrue(table.remove(KEY));
        run();
        lower.decided.get();
        assertEquals(60, fake.offset(KEY));
        assertFalse(table.owes(KEY));
    }

    @Test
    void aLoweringToWhatWasSettledIsDoneThoughItsQueueLeftAndOwesNothing() throws Exception {
        readAt(100);
        give(new Exact(KEY, 150));
        Exact lower = new Exact(KEY, 100);
        give(lower);
        assertFalse(table.remove(KEY));
        run();
        assertEquals(150, fake.offset(KEY));
        run();
        lower.decided.get();
        assertEquals(100, fake.offset(KEY));
        assertEquals(1, fake.sets());
    }

    @Test
    void oneThatWasGivenBeforeTheQueueWasReadAgainUndoesNoAct() throws Exception {
        readAt(50);
        Exact before = new Exact(KEY, 100);
        give(before);
        fake.reset(KEY, 20);
        FetchAnswer a = fake.cluster().fetch(Collections.singletonList(KEY), ReadAt.LINEARIZABLE, soon());
        table.retake(KEY, table.queues().get(KEY), a.states().get(0), a.meta());
        run();
        Throwable why = assertThrows(ExecutionException.class, before.decided::get).getCause();
        assertEquals(Code.FENCED, ((TidemarkException) why).code());
        assertEquals(20, fake.offset(KEY));
        assertFalse(table.exactsWait());
    }
}
