package io.github.tidemarkmq.client;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Looks host names up, anew for each connection. The JVM's lookup has no deadline and cannot be interrupted; so it runs
 * in a daemon thread, of which there are at most four, and its caller goes when its time is up.
 */
final class Resolver implements AutoCloseable {
    private static final int THREADS = 4;

    private final ThreadPoolExecutor threads =
        new ThreadPoolExecutor(0, THREADS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), r -> {
            Thread t = new Thread(r, "tidemark-client-names");
            t.setDaemon(true);
            return t;
        });

    InetAddress[] resolve(Address address, Deadline deadline) throws Failure {
        try {
            if (address.literal()) {
                return InetAddress.getAllByName(address.host());
            }
            return await(threads.submit(() -> InetAddress.getAllByName(address.host())), deadline);
        } catch (UnknownHostException | ExecutionException e) {
            throw Failure.unsent("the name of " + address + " cannot be resolved; check it", e);
        } catch (TimeoutException | RejectedExecutionException e) {
            throw Failure.unsent("the name of " + address + " was not resolved in time; check the name server", e);
        }
    }

    /** Waits for a lookup. An interrupt does not end it, since the deadline will; the thread stays interrupted. */
    private static InetAddress[] await(Future<InetAddress[]> lookup, Deadline deadline)
        throws ExecutionException, TimeoutException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return lookup.get(Math.max(0, deadline.remaining(TimeUnit.NANOSECONDS)), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
