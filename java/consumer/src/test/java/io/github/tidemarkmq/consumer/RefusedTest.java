package io.github.tidemarkmq.consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** A queue that the cluster refuses holds up itself alone, though its requests are refused whole. */
class RefusedTest extends Steps {
    private static Predicate<OffsetKey> queues(int from, int to) {
        return key -> key.queueId() >= from && key.queueId() < to;
    }

    private void read(int n) throws TidemarkException {
        for (int i = 0; i < n; i++) {
            read(key(i));
        }
    }

    /** A run after all queues were raised; how many requests of commits it made. */
    private int raise(int n, long to) throws TidemarkException {
        for (int i = 0; i < n; i++) {
            table.update(key(i), to, true);
        }
        int before = fake.commits();
        run();
        return fake.commits() - before;
    }

    private Set<Integer> behind(int n, long to) {
        Set<Integer> out = new HashSet<>();
        for (int i = 0; i < n; i++) {
            if (fake.offset(key(i)) < to) {
                out.add(i);
            }
        }
        return out;
    }

    @Test
    void aQueueOverALimitHoldsUpItselfAlone() throws TidemarkException {
        read(500);
        long to = 0;
        for (Code code : new Code[] {Code.LIMIT, Code.DENIED, Code.INVALID}) {
            to += 10;
            fake.bar(code, queues(300, 301));
            int first = raise(500, to);
            assertEquals(Collections.singleton(300), behind(500, to));
            assertTrue(first <= 19, first + " requests");
            table.update(key(300), to + 1, true);
            Findings f = run();
            assertEquals(code, f.failure().code());
            assertEquals(Collections.singleton(key(300)), f.failures.keySet());
            assertEquals(2, raise(500, to + 2));
            assertEquals(Collections.singleton(300), behind(500, to + 2));
            fake.bar(null, null);
            raise(500, to + 3);
            assertEquals(1, raise(500, to + 4));
            assertTrue(behind(500, to + 4).isEmpty());
        }
    }

    @Test
    void anOutageIsNotHalved() throws TidemarkException {
        read(10);
        fake.failing(Code.UNREACHABLE);
        assertEquals(1, raise(10, 5));
    }

    @Test
    void refusalsOfAllAreFewRequests() throws TidemarkException {
        int n = 3 * Run.MOST;
        read(n);
        fake.bar(Code.DENIED, key -> true);
        for (int i = 1; i <= 3; i++) {
            int requests = raise(n, i);
            assertTrue(requests <= 3 + 2 * Parts.MOST_HALVED, requests + " requests");
        }
        fake.bar(null, null);
        raise(n, 9);
        assertTrue(behind(n, 9).isEmpty());
        assertEquals(3, raise(n, 10));
    }

    @Test
    void theQueuesOnBothSidesOfARefusedBlockGetTheirTurn() throws TidemarkException {
        read(500);
        fake.bar(Code.DENIED, queues(125, 375));
        raise(500, 1);
        for (int i : new int[] {0, 124, 375, 499}) {
            assertEquals(1, fake.offset(key(i)), "queue " + i);
        }
    }

    @Test
    void whoIsToBlameIsFoundFromRunToRun() throws TidemarkException {
        read(500);
        fake.bar(Code.LIMIT, key -> key.queueId() % 25 == 0);
        int runs = 1;
        for (raise(500, runs); behind(500, runs).size() > 20; raise(500, runs)) {
            runs++;
            assertTrue(runs < 12, runs + " runs, and " + behind(500, runs - 1).size() + " queues are held up");
        }
        assertEquals(20, behind(500, runs).size());
        assertTrue(runs > 1);
        fake.bar(Code.LIMIT, key -> key.queueId() % 25 == 0 && key.queueId() > 0); // one is allowed again
        for (int i = 0; i < 3; i++) {
            runs++;
            raise(500, runs);
        }
        assertEquals(runs, fake.offset(key(0)));
    }

    @Test
    void theDebtOfAQueueThatIsRefusedAloneIsGivenUpAndTold() throws TidemarkException {
        read(3);
        fake.bar(Code.LIMIT, queues(1, 2));
        for (int i = 0; i < 3; i++) {
            table.update(key(i), 7, true);
            assertTrue(table.remove(key(i)));
        }
        Findings f = run();
        assertEquals(1, f.lost.size());
        assertEquals(key(1), f.lost.get(0).key);
        assertEquals(7, f.lost.get(0).offset);
        assertEquals("the queue left, and then the cluster refused its offset: made to fail", f.lost.get(0).why);
        assertEquals(7, fake.offset(key(0)));
        assertEquals(7, fake.offset(key(2)));
        assertFalse(table.owes(key(1)));
        read(key(1)); // which waited for the debt
        assertEquals(QueueProgress.NONE, table.memory(key(1)));
        assertTrue(run().lost.isEmpty());
    }

    @Test
    void theDebtOfALoweringThatIsRefusedIsGivenUpAndTold() throws TidemarkException {
        fake.commit(KEY, 50);
        read(KEY);
        table.update(KEY, 30, false);
        fake.bar(Code.DENIED, KEY::equals);
        assertEquals(Code.DENIED, run().failure().code());
        assertTrue(table.remove(KEY));
        Findings f = run();
        assertEquals(1, f.lost.size());
        assertEquals(30, f.lost.get(0).offset);
        assertFalse(table.owes(KEY));
        assertEquals(50, fake.offset(KEY));
    }

    @Test
    void aDebtThatWasNotSentByItselfStays() throws TidemarkException {
        read(500);
        fake.bar(Code.LIMIT, queues(0, 1));
        raise(500, 1);
        fake.bar(Code.LIMIT, key -> true);
        raise(500, 2);
        fake.bar(Code.LIMIT, queues(1, 500)); // it comes last, when the run sends no more parts
        assertTrue(table.remove(key(0)));
        Findings f = run();
        assertEquals(-1, fake.offset(key(0)));
        assertTrue(f.lost.isEmpty());
        assertTrue(table.owes(key(0)));
        fake.bar(null, null);
        run();
        assertEquals(2, fake.offset(key(0)));
        assertFalse(table.owes(key(0)));
    }

    @Test
    void aDebtThatMayBePaidLaterStays() throws TidemarkException {
        read(2);
        table.update(KEY, 7, true);
        assertTrue(table.remove(KEY));
        fake.failing(Code.BUSY);
        assertTrue(run().lost.isEmpty());
        assertTrue(table.owes(KEY));
    }

    @Test
    void anActIsNoticedThoughAnotherQueueMayNotBeRead() throws TidemarkException {
        read(100);
        look();
        fake.hide(queues(40, 41));
        fake.reset(key(70), 20);
        Findings f = new Findings();
        TidemarkException e = assertThrows(TidemarkException.class, () -> look(f));
        assertEquals(Code.DENIED, e.code());
        assertEquals(1, f.fences.size());
        assertEquals(key(70), f.fences.get(0).key);
    }

    @Test
    void anActOnAQueueThatMayNotBeReadIsNoticedOnceItMay() throws TidemarkException {
        read(100);
        look();
        fake.hide(queues(40, 41));
        fake.reset(key(40), 20);
        assertThrows(TidemarkException.class, this::look);
        int before = fake.fetches();
        assertThrows(TidemarkException.class, this::look);
        int asked = fake.fetches() - before;
        assertTrue(asked <= 3, asked + " requests for one queue that is open");
        fake.hide(key -> false);
        Findings f = look();
        assertEquals(1, f.fences.size());
        assertEquals(key(40), f.fences.get(0).key);
        before = fake.fetches();
        look();
        assertEquals(before + 1, fake.fetches());
    }

    @Test
    void whereNoQueueMayBeReadFewAreAskedAbout() throws TidemarkException {
        read(500);
        look();
        fake.hide(key -> true);
        for (int i = 0; i < 3; i++) {
            int before = fake.fetches();
            Findings f = new Findings();
            assertThrows(TidemarkException.class, () -> look(f));
            int asked = fake.fetches() - before;
            assertTrue(asked <= 2 + 2 * Parts.MOST_HALVED, asked + " requests");
            assertFalse(f.answered);
        }
        fake.hide(queues(0, 499));
        fake.reset(key(499), 20);
        Set<OffsetKey> fenced = new HashSet<>();
        for (int i = 0; i < 40 && fenced.isEmpty(); i++) {
            Findings f = new Findings();
            assertThrows(TidemarkException.class, () -> look(f));
            f.fences.forEach(one -> fenced.add(one.key));
        }
        assertEquals(Collections.singleton(key(499)), fenced);
        assertNull(table.queues().get(key(0)).fenced());
    }
}
