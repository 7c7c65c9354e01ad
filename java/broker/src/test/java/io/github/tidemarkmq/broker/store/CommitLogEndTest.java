package io.github.tidemarkmq.broker.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Log;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CommitLogEndTest {
    private static final long PATIENCE_SECONDS = 60;

    private final FakeLog fake = new FakeLog();
    private CommitLogEnd end;

    private CommitLogEnd start(boolean flushes) {
        end = new CommitLogEnd(flushes, SILENT);
        return end;
    }

    private CountDownLatch moves(CommitLogEnd opened, long to) {
        CountDownLatch moved = new CountDownLatch(1);
        opened.onAdvance(() -> {
            if (opened.durable() >= to) {
                moved.countDown();
            }
        });
        opened.start(fake);
        return moved;
    }

    private static boolean within(CountDownLatch latch) throws InterruptedException {
        return latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @AfterEach
    void close() {
        if (end != null) {
            end.close();
        }
    }

    @Test
    void aLogThatIsNotOpenEndsAtZero() {
        assertEquals(0, start(true).end());
        assertEquals(0, end.durable());
    }

    @Test
    void whatNobodyWantsIsNotFlushed() {
        fake.written.set(100);
        start(true).start(fake);
        assertEquals(100, end.end());
        assertEquals(0, end.durable());
        end.close();
        assertEquals(0, fake.flushes.get());
    }

    @Test
    void whatIsWantedIsFlushedAndTold() throws InterruptedException {
        fake.written.set(100);
        CountDownLatch moved = moves(start(true), 100);
        end.want(100, false);
        assertTrue(within(moved), "nobody was told");
        assertEquals(100, end.durable());
        assertEquals(1, fake.flushes.get());
    }

    @Test
    void manyWhoWaitShareAFlush() throws InterruptedException {
        CountDownLatch moved = moves(start(true), 1_000);
        for (int i = 1; i <= 1_000; i++) {
            fake.written.set(i);
            end.want(i, true);
        }
        assertTrue(within(moved), "nobody was told");
        assertTrue(fake.flushes.get() < 500, fake.flushes.get() + " flushes for 1000 who wait");
    }

    @Test
    void theBrokersOwnFlushIsEnough() throws InterruptedException {
        fake.written.set(100);
        CountDownLatch moved = moves(start(false), 100);
        end.want(100, true);
        fake.flushed.set(100);
        assertTrue(within(moved), "nobody was told");
        assertEquals(0, fake.flushes.get());
    }

    @Test
    void aSlaveThatIsThereIsWaitedFor() throws InterruptedException {
        fake.written.set(100);
        fake.replicas.add(new Replica(40, false));
        CountDownLatch some = moves(start(true), 40);
        end.want(100, true);
        assertTrue(within(some), "nobody was told of what the slave has");
        assertEquals(40, end.durable());
        CountDownLatch all = new CountDownLatch(1);
        end.onAdvance(() -> {
            if (end.durable() >= 100) {
                all.countDown();
            }
        });
        fake.replicas.set(0, new Replica(100, false));
        assertTrue(within(all), "nobody was told that the slave has all");
    }

    @Test
    void nothingIsWantedBeyondTheEndOfALogThatWasCut() throws InterruptedException {
        fake.written.set(100);
        CountDownLatch moved = moves(start(true), 50);
        fake.written.set(50);
        end.want(100, true);
        assertTrue(within(moved), "nobody was told");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        int before;
        do { // quiet once two looks in a row find nothing to flush
            before = fake.flushes.get();
            CountDownLatch looked = new CountDownLatch(2);
            fake.looked = looked;
            assertTrue(within(looked));
        } while (fake.flushes.get() != before && System.nanoTime() < deadline);
        assertEquals(before, fake.flushes.get());
        assertFalse(end.durable() > 50);
    }

    private static final Log SILENT = new Log() {
        @Override
        public void info(String line) {
        }

        @Override
        public void warn(String line) {
        }

        @Override
        public void error(String line, Throwable cause) {
            throw new AssertionError(line, cause);
        }
    };

    private static final class FakeLog implements LogView {
        final AtomicLong written = new AtomicLong();
        final AtomicLong flushed = new AtomicLong();
        final AtomicInteger flushes = new AtomicInteger();
        final List<Replica> replicas = Collections.synchronizedList(new ArrayList<>());
        volatile CountDownLatch looked = new CountDownLatch(0);

        @Override
        public long written() {
            return written.get();
        }

        @Override
        public long flushed() {
            return flushed.get();
        }

        @Override
        public void flush() {
            flushes.incrementAndGet();
            flushed.set(written.get());
        }

        @Override
        public List<Replica> replicas() {
            looked.countDown();
            return new ArrayList<>(replicas);
        }

        @Override
        public boolean agreed() {
            return true;
        }
    }
}
