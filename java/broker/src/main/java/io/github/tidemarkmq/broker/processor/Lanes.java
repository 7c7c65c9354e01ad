package io.github.tidemarkmq.broker.processor;

import io.github.tidemarkmq.broker.planted.Mistake;
import io.github.tidemarkmq.broker.version.TaskChannel;
import io.netty.channel.Channel;
import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads that keep the order of each caller: what one thread hands over runs in that order. Netty reads a connection
 * on one thread for as long as it lives, so the requests of a connection run in the order in which they were sent; in
 * the broker's own pool they overtake one another.
 */
public final class Lanes extends AbstractExecutorService {
    /** As many as the broker has threads that decode requests (NettyServerConfig.serverWorkerThreads). */
    private static final int LANES = 8;
    /** Requests that wait in one lane; one more is refused, which the broker answers with 2. */
    private static final int CAPACITY = 100_000;

    /** Of a connection: its requests that have not run to their end. */
    private static final AttributeKey<AtomicInteger> WAITING = AttributeKey.valueOf("tidemark.waiting");

    private final ThreadPoolExecutor[] lanes = new ThreadPoolExecutor[LANES];
    private final AtomicInteger next = new AtomicInteger();
    private final ThreadLocal<ThreadPoolExecutor> ofCaller =
        ThreadLocal.withInitial(() -> this.lanes[next.getAndIncrement() % LANES]);

    public Lanes() {
        for (int i = 0; i < LANES; i++) {
            String name = "tidemark-offsets-" + i;
            lanes[i] = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(CAPACITY), task -> {
                Thread t = new Thread(task, name);
                t.setDaemon(true);
                return t;
            });
        }
    }

    /** The broker hands over its requests by this. */
    @Override
    public Future<?> submit(Runnable task) {
        Channel from = TaskChannel.of(task);
        if (from == null) {
            return super.submit(task);
        }
        AtomicInteger waiting = waiting(from);
        waiting.incrementAndGet();
        try {
            return super.submit(() -> {
                try {
                    task.run();
                } finally {
                    waiting.decrementAndGet();
                }
            });
        } catch (RejectedExecutionException e) {
            waiting.decrementAndGet();
            throw e;
        }
    }

    /** Whether requests that came on this connection before now have not run to their end yet. Any thread. */
    static boolean isWaiting(Channel channel) {
        return waiting(channel).get() > 0;
    }

    private static AtomicInteger waiting(Channel channel) {
        Attribute<AtomicInteger> count = channel.attr(WAITING);
        if (count.get() == null) {
            count.setIfAbsent(new AtomicInteger());
        }
        return count.get();
    }

    @Override
    public void execute(Runnable task) {
        ThreadPoolExecutor lane = Mistake.ORDER_LOST ? lanes[next.getAndIncrement() % LANES] : ofCaller.get();
        lane.execute(task);
    }

    @Override
    public void shutdown() {
        for (ThreadPoolExecutor lane : lanes) {
            lane.shutdown();
        }
    }

    /** Ends the threads after the request that each is at. What waits is dropped; the ports are closed by then. */
    @Override
    public List<Runnable> shutdownNow() {
        for (ThreadPoolExecutor lane : lanes) {
            lane.shutdownNow();
        }
        return Collections.emptyList();
    }

    @Override
    public boolean isShutdown() {
        return lanes[LANES - 1].isShutdown();
    }

    @Override
    public boolean isTerminated() {
        for (ThreadPoolExecutor lane : lanes) {
            if (!lane.isTerminated()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean awaitTermination(long time, TimeUnit unit) throws InterruptedException {
        long until = System.nanoTime() + unit.toNanos(time);
        for (ThreadPoolExecutor lane : lanes) {
            lane.awaitTermination(until - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
        return isTerminated();
    }
}
