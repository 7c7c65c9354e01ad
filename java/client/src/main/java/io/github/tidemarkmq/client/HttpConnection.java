package io.github.tidemarkmq.client;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * One connection to one node, and one request on it at a time. Nothing is ever sent again here. Not for use from
 * several threads, except for {@link #cut}.
 */
final class HttpConnection implements Closeable {
    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final Address address;
    private final Socket plain;
    private final Socket socket;
    private final OutputStream out;
    private final HttpAnswer answer;
    private final Object identity;
    private long used = System.nanoTime();

    /**
     * A connection over a connected socket.
     *
     * @param plain the TCP socket
     * @param socket what is spoken through: the same, or TLS over it
     * @param identity what it was opened with, {@link Dialer#identity}
     */
    HttpConnection(Address address, Socket plain, Socket socket, Object identity) throws IOException {
        this.address = address;
        this.identity = identity;
        this.plain = plain;
        this.socket = socket;
        this.out = new BufferedOutputStream(socket.getOutputStream());
        this.answer = new HttpAnswer(socket.getInputStream());
    }

    Address address() {
        return address;
    }

    /** What it was opened with. */
    Object identity() {
        return identity;
    }

    /** Sends a request: its head, its body, and what follows that. */
    void send(byte[] head, ProtoWriter body, ProtoWriter tail) throws IOException {
        out.write(head);
        out.write(body.array(), 0, body.length());
        out.write(tail.array(), 0, tail.length());
        out.flush();
    }

    /** Sends a request without a body. */
    void send(String head) throws IOException {
        out.write(head.getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    /** Waits for the first byte of the answer; false if none came in time. */
    boolean await(long millis) throws IOException {
        try {
            socket.setSoTimeout((int) Math.max(1, millis));
            answer.await();
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    /** Reads the answer; what cuts it off in time is {@link #cut}. */
    HttpAnswer read() throws IOException {
        socket.setSoTimeout(0);
        answer.read();
        used = System.nanoTime();
        return answer;
    }

    /** Whether it may be used once more: not idle for too long, not closed by the other side as far as can be seen. */
    boolean usable() {
        long idle = System.nanoTime() - used;
        if (idle > IDLE_NANOS || !answer.clean()) {
            return false;
        }
        if (idle < FRESH_NANOS) {
            return true;
        }
        try {
            return !await(1); // whatever comes now, the end or bytes, comes unasked
        } catch (IOException e) {
            return false;
        }
    }

    /** Ends what waits on the connection, from any thread, without waiting itself: TLS says no goodbye. */
    void cut() {
        try {
            plain.close();
        } catch (IOException e) {
            return; // it is closed
        }
    }

    @Override
    public void close() {
        cut();
    }
}
