package io.github.tidemarkmq.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
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

    Dialer(Alarms alarms, Tls tls) {
        this.alarms = alarms;
        this.tls = tls;
    }

    /** What connections are opened with now; another one than that of an older connection makes that obsolete. */
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
        Socket plain = new Socket();
        Future<?> alarm = alarms.at(end, () -> close(plain));
        boolean done = false;
        try {
            long millis = Math.max(1, end.remaining(TimeUnit.MILLISECONDS) / left);
            plain.connect(new InetSocketAddress(ip, address.port()), (int) millis);
            plain.setTcpNoDelay(true);
            Object identity = identity();
            Socket socket = tls == null ? plain : Tls.over(plain, address, (SSLSocketFactory) identity);
            HttpConnection c = new HttpConnection(address, plain, socket, identity);
            done = true;
            return c;
        } catch (SSLException e) {
            throw Failure.unsent("no TLS with " + address + ": " + e.getMessage(), e);
        } catch (IOException e) {
            throw Failure.unsent("no connection to " + address + ": " + e.getMessage(), e);
        } finally {
            alarm.cancel(false);
            if (!done) {
                close(plain);
            }
        }
    }

    private static void close(Socket s) {
        try {
            s.close();
        } catch (IOException e) {
            return; // it is closed
        }
    }

    @Override
    public void close() {
        resolver.close();
    }
}
