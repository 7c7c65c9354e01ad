package io.github.tidemarkmq.broker.processor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.manager.Caller;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.netty.RequestTask;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
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
    void aConnectionsRequestsAreKnownToWaitUntilTheyHaveRun() throws Exception {
        EmbeddedChannel one = new EmbeddedChannel();
        EmbeddedChannel other = new EmbeddedChannel();
        CountDownLatch held = new CountDownLatch(1);
        lanes.submit(() -> held.await(60, TimeUnit.SECONDS));
        Future<?> first = lanes.submit(new RequestTask(() -> { }, one, null));
        Future<?> fails = lanes.submit(new RequestTask(() -> {
            throw new IllegalStateException("a request that fails");
        }, one, null));
        assertTrue(Lanes.isWaiting(one));
        assertFalse(Lanes.isWaiting(other));
        held.countDown();
        first.get(60, TimeUnit.SECONDS);
        assertThrows(ExecutionException.class, () -> fails.get(60, TimeUnit.SECONDS));
        assertFalse(Lanes.isWaiting(one));
        lanes.shutdownNow();
        assertThrows(RejectedExecutionException.class, () -> lanes.submit(new RequestTask(() -> { }, one, null)));
        assertFalse(Lanes.isWaiting(one));
    }

    @Test
    void aPullIsEarlyWhileCommitsBeforeItWait() throws Exception {
        EmbeddedChannel channel = new EmbeddedChannel();
        AtomicReference<Boolean> early = new AtomicReference<>();
        Pulls pulls = new Pulls(new Brokers(() -> early.set(Caller.current().isEarly())), null,
            new Connections((g, c) -> false, 0, c -> { }), null);
        channel.pipeline().addLast("h", new ChannelInboundHandlerAdapter());
        ChannelHandlerContext ctx = channel.pipeline().context("h");
        RemotingCommand pull = RemotingCommand.createRequestCommand(Pulls.PULL, null);
        CountDownLatch held = new CountDownLatch(1);
        Future<?> commit = lanes.submit(new RequestTask(() -> await(held), channel, null));
        pulls.processRequest(ctx, pull);
        assertEquals(true, early.get());
        held.countDown();
        commit.get(60, TimeUnit.SECONDS);
        pulls.processRequest(ctx, pull);
        assertEquals(false, early.get());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** In the place of the broker's processor of pulls. */
    private static final class Brokers implements NettyRequestProcessor {
        private final Runnable pull;

        Brokers(Runnable pull) {
            this.pull = pull;
        }

        @Override
        public RemotingCommand processRequest(ChannelHandlerContext ctx, RemotingCommand request) {
            pull.run();
            return null;
        }

        @Override
        public boolean rejectRequest() {
            return false;
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
