package io.github.tidemarkmq.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How many offsets a second one process commits to three nodes on this machine, and how long a request takes: from one
 * caller and from many, with one offset a request and with 10,000. Prints a table; {@code make bench-java} runs it.
 */
final class CommitBench {
    private static final int QUEUES = 16;

    private final Cluster client;
    private final String clusterId;

    private CommitBench(Cluster client, String clusterId) {
        this.client = client;
        this.clusterId = clusterId;
    }

    public static void main(String[] args) throws Exception {
        long seconds = Long.getLong("seconds", 5);
        try (TestCluster cluster = TestCluster.start(3);
            TidemarkClient client = TidemarkClient.open(
                ClientOptions.seeds(cluster.addresses()).maxCalls(256).build())) {
            cluster.leader(client);
            String id = client.status(Deadline.after(5, TimeUnit.SECONDS)).meta().clusterId();
            CommitBench bench = new CommitBench(client, id);
            System.out.println("callers  offsets/request  requests/s     offsets/s   p50 ms   p99 ms");
            for (int[] row : new int[][] {{1, 1}, {16, 1}, {64, 1}, {256, 1}, {1, 10_000}, {4, 10_000}}) {
                bench.measure(row[0], row[1], 1); // warm
                bench.measure(row[0], row[1], seconds).print();
            }
        }
    }

    /** What one measurement found. */
    private static final class Result {
        private final int callers;
        private final int size;
        private final double seconds;
        private final long[] nanos;

        Result(int callers, int size, double seconds, long[] nanos) {
            this.callers = callers;
            this.size = size;
            this.seconds = seconds;
            this.nanos = nanos;
        }

        void print() {
            Arrays.sort(nanos);
            double rate = nanos.length / seconds;
            System.out.printf("%7d %16d %11.0f %13.0f %8.2f %8.2f%n", callers, size, rate, rate * size,
                nanos[nanos.length / 2] / 1e6, nanos[nanos.length * 99 / 100] / 1e6);
        }
    }

    private Result measure(int callers, int size, long seconds) throws Exception {
        Deadline end = Deadline.after(seconds, TimeUnit.SECONDS);
        List<Caller> all = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        long began = System.nanoTime();
        for (int i = 0; i < callers; i++) {
            Caller c = new Caller(i, size, end);
            Thread t = new Thread(c);
            all.add(c);
            threads.add(t);
            t.start();
        }
        for (Thread t : threads) {
            t.join();
        }
        double took = (System.nanoTime() - began) / 1e9;
        return new Result(callers, size, took, all.stream().flatMapToLong(c -> c.nanos.stream().mapToLong(n -> n))
            .toArray());
    }

    /** One thread that commits the same keys, higher each time. */
    private final class Caller implements Runnable {
        private final List<OffsetKey> keys = new ArrayList<>();
        private final Deadline end;
        private final List<Long> nanos = new ArrayList<>();

        Caller(int number, int size, Deadline end) {
            this.end = end;
            for (int i = 0; i < size; i++) {
                keys.add(new OffsetKey("bench-" + number, "topic-" + i / QUEUES, "broker-a", i % QUEUES));
            }
            Collections.sort(keys);
        }

        @Override
        public void run() {
            try {
                for (long offset = 1; !end.passed(); offset++) {
                    List<Commit> commits = new ArrayList<>(keys.size());
                    for (OffsetKey k : keys) {
                        commits.add(new Commit(k, offset, 0));
                    }
                    long began = System.nanoTime();
                    client.commit(clusterId, commits, Deadline.after(10, TimeUnit.SECONDS));
                    nanos.add(System.nanoTime() - began);
                }
            } catch (TidemarkException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
