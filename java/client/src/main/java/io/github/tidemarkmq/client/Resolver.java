package io.github.tidemarkmq.client;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Looks host names up again for each connection. The JVM's lookup has no deadline and cannot be interrupted; so it runs
 * in a daemon thread, and its caller goes when its time is up. Callers share the lookup of a name: one that hangs
 * holds one of the threads, and leaves the others to the names that can be resolved.
 */
final class Resolver implements AutoCloseable {
    private static final int THREADS = 16;

    /** Looks up the addresses of a host, for as long as that takes. */
    interface Lookup {
        InetAddress[] lookup(String host) throws UnknownHostException;
    }

    private final Lookup names;
    /** The lookups under way; guarded by this. */
    private final Map<String, Future<InetAddress[]>> underWay = new HashMap<>();
    private final ThreadPoolExecutor threads =
        new ThreadPoolExecutor(0, THREADS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), r -> {
            Thread t = new Thread(r, "tidemark-client-names");
            t.setDaemon(true);
            return t;
        });

    Resolver() {
        this(InetAddress::getAllByName);
    }

    Resolver(Lookup names) {
        this.names = names;
    }

    InetAddress[] resolve(Address address, Deadline deadline) throws Failure {
        try {
            if (address.literal()) {
                return InetAddress.getAllByName(address.host());
            }
            return await(lookup(address.host()), deadline);
        } catch (UnknownHostException | ExecutionException e) {
            throw Failure.unsent("the name of " + address + " cannot be resolved; check it", e);
        } catch (TimeoutException | RejectedExecutionException | CancellationException e) {
            throw Failure.unsent("the name of " + address + " was not resolved in time; check the name server", e);
        }
    }

    /** The lookup of a host that is under way, or a new one. */
    private synchronized Future<InetAddress[]> lookup(String host) {
        Future<InetAddress[]> running = underWay.get(host);
        if (running != null) {
            return running;
        }
        FutureTask<InetAddress[]> task = new FutureTask<InetAddress[]>(() -> names.lookup(host)) {
            @Override
            protected void done() {
                ended(host, this);
            }
        };
        threads.execute(task);
        underWay.put(host, task);
        return task;
    }

    private synchronized void ended(String host, Future<InetAddress[]> lookup) {
        underWay.remove(host, lookup);
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

    /** Releases whoever waits; a lookup that hangs keeps its thread until it ends. */
    @Override
    public void close() {
        List<Future<InetAddress[]>> all;
        synchronized (this) {
            threads.shutdownNow();
            all = new ArrayList<>(underWay.values());
        }
        all.forEach(f -> f.cancel(false));
    }
}
