package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.KeyProgress.Phase;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
    private static final int TURNS = 20_000;

    private final Tally tally = new Tally();
    private final Table table = new Table(tally);
    private final Key key = new Key("orders", "billing", 3);

    private static void bury(KeyProgress k) {
        synchronized (k) {
            k.phase = Phase.GONE;
            k.bury();
        }
    }

    @Test
    void namesLeaveWithTheirLastKey() {
        KeyProgress k = table.with(key, p -> p);
        KeyProgress other = table.with(new Key("orders", "billing", 4), p -> p);
        assertSame(k.of, other.of);
        bury(k);
        table.remove(k);
        assertNull(table.get(key));
        assertSame(other.of, table.queues("orders", "billing"));
        bury(other);
        table.remove(other);
        assertTrue(table.isEmpty());
        assertEquals(0, tally.keys.sum());
        KeyProgress anew = table.with(key, p -> p);
        assertNotSame(k, anew);
        table.remove(k);
        assertSame(anew, table.get(key), "who removes the old one twice takes nothing of the new one");
    }

    /** A key that somebody holds is in the table, whoever removes others of its names meanwhile. */
    @Test
    void aKeyIsMadeUnderNamesThatStay() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        List<String> missed = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Key mine = new Key("orders", "billing", t);
            threads.add(new Thread(() -> {
                for (int i = 0; i < TURNS; i++) {
                    KeyProgress k = table.with(mine, p -> p);
                    if (table.get(mine) != k) {
                        synchronized (missed) {
                            missed.add(mine + " in turn " + i);
                        }
                        return;
                    }
                    bury(k);
                    table.remove(k);
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread t : threads) {
            t.join();
        }
        assertEquals(new ArrayList<>(), missed);
        assertTrue(table.isEmpty());
        assertEquals(0, tally.keys.sum());
    }
}
