package io.github.tidemarkmq.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocketFactory;

/** Opens connections. */
final class Dialer implements AutoCloseable {
    /** How long one connection may take, its TLS handshake included. */
    private static final long DIAL_MILLIS = 1000;

    private final Resolver resolver = new Resolver();
    private final Alarms alarms;
    /** Null: no TLS. */
    private final Tls tls;

    // What follows is guarded by this.
    /** The sockets that are being opened. Nobody else knows them yet, so a close ends them here. */
    private final Set<Socket> opening = new HashSet<>();
    private boolean closed;

    Dialer(Alarms alarms, Tls tls) {
        this.alarms = alarms;
        this.tls = tls;
    }

    /** What connections are opened with now; a connection that was opened with another one is obsolete. */
    Object identity() {
        return tls == null ? null : tls.current();
    }

    /** Opens a connection within a second and the deadline; a failure says that nothing was sent. */
    HttpConnection dial(Address address, Deadline deadline) throws Failure {
        Deadline end = deadline.atMost(DIAL_MILLIS);
        InetAddress[] all = resolver.resolve(address, end);
        Failure last = null;
        for (int i = 0; i < all.length && (last == null || !end.passed()); i++) {
            try {
                return dial(address, all[i], end, all.length - i);
            } catch (Failure f) {
                last = f;
            }
        }
        throw last == null ? Failure.unsent(address + " has no address", null) : last;
    }

    /** Dials one of the addresses that are left, with its share of the time. */
    private HttpConnection dial(Address address, InetAddress ip, Deadline end, int left) throws Failure {
        Socket plain = begin();
        Future<?> alarm = null;
        boolean done = false;
        try {
            alarm = alarms.at(end, () -> close(plain));
            long millis = Math.max(1, end.millis() / left);
            plain.connect(new InetSocketAddress(ip, address.port()), (int) millis);
            plain.setTcpNoDelay(true);
            Object identity = identity();
            Socket socket = tls == null ? plain : Tls.over(plain, address, (SSLSocketFactory) identity);
            HttpConnection c = new HttpConnection(address, plain, socket, identity);
            done = true;
            return c;
        } catch (IOException e) {
            throw unconnected(address, e, end);
        } finally {
            if (alarm != null) {
                alarm.cancel(false);
            }
            end(plain);
            if (!done) {
                close(plain);
            }
        }
    }

    /** A cut socket's own words differ by the moment and may be none; that its time was up is what they mean. */
    private static Failure unconnected(Address address, IOException e, Deadline end) {
        boolean late = end.passed() || e instanceof SocketTimeoutException;
        String what = e instanceof SSLException ? "no TLS with " : "no connection to ";
        return Failure.unsent(what + address + (late ? " in time" : ": " + e.getMessage()), e);
    }

    private synchronized Socket begin() throws Failure {
        if (closed) {
            throw Failure.refused(Code.CLOSED, "the client is closed");
        }
        Socket s = new Socket();
        opening.add(s);
        return s;
    }

    private synchronized void end(Socket s) {
        opening.remove(s);
    }

    private static void close(Socket s) {
        try {
            s.close();
        } catch (IOException e) {
            return; // it is closed
        }
    }

    /** Ends what is being opened, whose alarms may never ring, and opens nothing from now on. */
    @Override
    public void close() {
        List<Socket> all;
        synchronized (this) {
            closed = true;
            all = new ArrayList<>(opening);
        }
        all.forEach(Dialer::close);
        resolver.close();
    }
}
