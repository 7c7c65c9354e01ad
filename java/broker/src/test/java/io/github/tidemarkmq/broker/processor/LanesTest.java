package io.github.tidemarkmq.broker.processor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LanesTest {
    private static final int TASKS = 2_000;
    private static final int CALLERS = 12;

    private final Lanes lanes = new Lanes();

    @AfterEach
    void end() throws InterruptedException {
        lanes.shutdownNow();
        assertTrue(lanes.awaitTermination(10, TimeUnit.SECONDS));
    }

    @Test
    void eachCallersTasksRunInItsOrder() throws Exception {
        List<Thread> callers = new ArrayList<>();
        List<List<Integer>> ran = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(TASKS * CALLERS);
        for (int c = 0; c < CALLERS; c++) {
            List<Integer> order = Collections.synchronizedList(new ArrayList<>());
            ran.add(order);
            callers.add(new Thread(() -> {
                for (int i = 0; i < TASKS; i++) {
                    int n = i;
                    lanes.submit(() -> {
                        order.add(n);
                        done.countDown();
                    });
                }
            }));
        }
        callers.forEach(Thread::start);
        assertTrue(done.await(60, TimeUnit.SECONDS));
        List<Integer> rising = new ArrayList<>();
        for (int i = 0; i < TASKS; i++) {
            rising.add(i);
        }
        for (List<Integer> order : ran) {
            assertEquals(rising, order);
        }
    }

    @Test
    void callersDoNotWaitForOneAnother() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch passed = new CountDownLatch(1);
        Thread first = new Thread(() -> lanes.submit(() -> held.await(60, TimeUnit.SECONDS)));
        first.start();
        first.join();
        Thread second = new Thread(() -> lanes.submit(passed::countDown));
        second.start();
        second.join();
        assertTrue(passed.await(60, TimeUnit.SECONDS));
        held.countDown();
    }
}
