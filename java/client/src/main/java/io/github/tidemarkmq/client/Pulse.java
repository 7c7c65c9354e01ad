package io.github.tidemarkmq.client;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Distinguishes a node that takes its time from one that is dead: paused, hung, or cut off. Over HTTP/1.1 a node gives
 * no sign of life while it works on a request; so when an answer is late, the node's {@code /livez} is asked on a
 * connection of its own, once for all calls that wait. What it says does not matter; that it says something does.
 */
final class Pulse {
    /** How long an answer is awaited before the node is asked. */
    static final long QUIET_MILLIS = 250;
    /** How long its sign of life is awaited. */
    private static final long ASK_MILLIS = 500;
    private static final int MAX_NODES = 64;

    private final Connections connections;
    private final Alarms alarms;
    private final Map<Address, Node> nodes = new HashMap<>(); // guarded by this

    Pulse(Connections connections, Alarms alarms) {
        this.connections = connections;
        this.alarms = alarms;
    }

    /** What is known of one node, by System.nanoTime. */
    private static final class Node {
        private final ReentrantLock asking = new ReentrantLock();
        private volatile long heard = System.nanoTime() - TimeUnit.HOURS.toNanos(1);
        private volatile long silent = heard;
    }

    private synchronized Node node(Address address) {
        if (nodes.size() >= MAX_NODES && !nodes.containsKey(address)) {
            nodes.clear();
        }
        return nodes.computeIfAbsent(address, a -> new Node());
    }

    /** A node has said something. */
    void heard(Address address) {
        node(address).heard = System.nanoTime();
    }

    /** Whether a node gives a sign of life that is later than a moment of System.nanoTime. */
    boolean beats(Address address, long since, Deadline deadline) {
        Node node = node(address);
        boolean locked = false;
        try {
            locked = node.asking.tryLock(Math.max(0, deadline.remaining(TimeUnit.NANOSECONDS)), TimeUnit.NANOSECONDS);
            if (!locked || node.heard - since > 0) {
                return true; // if the time is up, the deadline has the word
            }
            if (node.silent - since > 0) {
                return false;
            }
            if (ask(address, deadline)) {
                node.heard = System.nanoTime();
                return true;
            }
            if (!deadline.passed()) { // else it was not given its time, which says nothing to others
                node.silent = System.nanoTime();
            }
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        } finally {
            if (locked) {
                node.asking.unlock();
            }
        }
    }

    private boolean ask(Address address, Deadline deadline) {
        Deadline end = deadline.atMost(ASK_MILLIS);
        HttpConnection c = null;
        Future<?> alarm = null;
        try {
            c = connections.extra(address, end);
            alarm = alarms.at(end, c::cut);
            c.send("GET /livez HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n");
            return c.await(end.millis());
        } catch (Failure | IOException e) {
            return false;
        } finally {
            if (alarm != null) {
                alarm.cancel(false);
            }
            if (c != null) {
                connections.drop(c);
            }
        }
    }
}
