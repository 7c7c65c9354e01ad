package io.github.tidemarkmq.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** The connections of a client: a bounded number in use, and as many at rest. */
final class Connections implements AutoCloseable {
    private final Dialer dialer;
    private final int most;
    private final Semaphore places;

    // What follows is guarded by this.
    private final Deque<HttpConnection> resting = new ArrayDeque<>();
    private final Set<HttpConnection> open = new HashSet<>();
    private boolean closed;

    Connections(Dialer dialer, int most) {
        this.dialer = dialer;
        this.most = most;
        this.places = new Semaphore(most, true);
    }

    /** Waits for one of the places for calls under way; {@link #leave} gives it back. */
    void enter(Deadline deadline) throws Failure {
        try {
            long left = Math.max(0, deadline.remaining(TimeUnit.NANOSECONDS));
            if (!places.tryAcquire() && !places.tryAcquire(left, TimeUnit.NANOSECONDS)) {
                throw Failure.refused(Code.BUSY, most + " calls were under way all the time; raise maxCalls");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.refused(Code.BUSY, "the thread was interrupted while " + most + " calls were under way");
        }
    }

    void leave() {
        places.release();
    }

    /** A connection at rest that still works, or a new one. It goes back with {@link #rest} or {@link #drop}. */
    HttpConnection take(Address address, Deadline deadline) throws Failure {
        for (HttpConnection c = rested(address); c != null; c = rested(address)) {
            if (c.identity() == dialer.identity() && c.usable()) {
                return c;
            }
            drop(c);
        }
        return opened(dialer.dial(address, deadline));
    }

    private synchronized HttpConnection rested(Address address) {
        for (Iterator<HttpConnection> i = resting.descendingIterator(); i.hasNext();) {
            HttpConnection c = i.next();
            if (c.address().equals(address)) {
                i.remove();
                return c;
            }
        }
        return null;
    }

    /** A connection of its own, for a question apart from the calls. */
    HttpConnection extra(Address address, Deadline deadline) throws Failure {
        return opened(dialer.dial(address, deadline));
    }

    private HttpConnection opened(HttpConnection c) throws Failure {
        synchronized (this) {
            if (!closed) {
                open.add(c);
                return c;
            }
        }
        c.close();
        throw Failure.refused(Code.CLOSED, "the client is closed");
    }

    /** Puts back a connection whose answer was read; the one that has rested longest makes room. */
    void rest(HttpConnection c) {
        HttpConnection oldest = null;
        synchronized (this) {
            if (!closed) {
                resting.addLast(c);
                oldest = resting.size() > most ? resting.pollFirst() : null;
            }
        }
        if (oldest != null) {
            drop(oldest);
        }
    }

    /** Closes a connection that is no longer of use. */
    void drop(HttpConnection c) {
        synchronized (this) {
            open.remove(c);
        }
        c.close();
    }

    /** Closes the resting connections of an address that has failed. */
    void forget(Address address) {
        for (HttpConnection c = rested(address); c != null; c = rested(address)) {
            drop(c);
        }
    }

    /** Cuts every connection, and wakes whoever waits for a place. */
    @Override
    public void close() {
        List<HttpConnection> all;
        synchronized (this) {
            if (closed) {
                return; // the places are given back once
            }
            closed = true;
            all = new ArrayList<>(open);
            open.clear();
            resting.clear();
        }
        all.forEach(HttpConnection::cut);
        dialer.close();
        places.release(Integer.MAX_VALUE / 2);
    }
}
