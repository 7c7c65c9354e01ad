package io.github.tidemarkmq.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Sends one request to one node once, and reads its answer. */
final class Caller {
    /** How long a node's own word on the outcome is awaited beyond the time that it was given. */
    private static final long GRACE_MILLIS = 500;
    /** The largest message that a node takes. */
    private static final int MAX_REQUEST = 1 << 20;

    private final Connections connections;
    private final Alarms alarms;
    private final Pulse pulse;
    private final Credentials credentials;

    Caller(Connections connections, Alarms alarms, Credentials credentials) {
        this.connections = connections;
        this.alarms = alarms;
        this.pulse = new Pulse(connections, alarms);
        this.credentials = credentials;
    }

    /**
     * Sends a request once.
     *
     * @param nodeMillis the time that the node is given
     * @param deadline that of the whole call
     */
    <T extends Answer> T once(Address address, Request<T> request, long nodeMillis, Deadline deadline) throws Failure {
        Deadline end = deadline.atMost(nodeMillis + GRACE_MILLIS);
        ProtoWriter tail = request.timeout(nodeMillis);
        int length = request.body().length() + tail.length();
        if (length > MAX_REQUEST) {
            throw Failure.refused(Code.INVALID, "the request has " + length + " bytes, and a node takes "
                + MAX_REQUEST + "; split it");
        }
        byte[] head = head(address, request, length);
        HttpConnection c = connections.take(address, deadline);
        boolean rests = false;
        Future<?> alarm = null;
        try {
            alarm = alarms.at(end, c::cut);
            c.send(head, request.body(), tail);
            await(c, end);
            HttpAnswer answer = c.read();
            T result = decode(request, answer);
            rests = answer.keepAlive();
            return result;
        } catch (Answered e) {
            rests = e.keepAlive;
            throw e.failure;
        } catch (IOException e) {
            throw unanswered(address, e, end);
        } finally {
            boolean cut = alarm == null || !alarm.cancel(false);
            if (rests && !cut) {
                connections.rest(c);
            } else {
                connections.drop(c);
            }
        }
    }

    /** Waits for the first byte of an answer as long as the node gives a sign of life. */
    private void await(HttpConnection c, Deadline end) throws IOException {
        long quiet = Pulse.QUIET_MILLIS;
        long since = System.nanoTime();
        while (!c.await(Math.min(quiet, end.millis()))) {
            if (end.passed()) {
                throw new IOException("its time is up");
            }
            if (!pulse.beats(c.address(), since, end)) {
                throw new IOException("it gives no sign of life");
            }
            since = System.nanoTime();
            quiet *= 2;
        }
        pulse.heard(c.address());
    }

    /** An error that a node answered with. */
    private static final class Answered extends IOException {
        private static final long serialVersionUID = 1;
        private final transient Failure failure;
        private final boolean keepAlive;

        Answered(Failure failure, boolean keepAlive) {
            this.failure = failure;
            this.keepAlive = keepAlive;
        }
    }

    private static <T extends Answer> T decode(Request<T> request, HttpAnswer answer) throws IOException {
        if (answer.status() != 200) {
            throw new Answered(ErrorBody.read(answer), answer.keepAlive());
        }
        if (!answer.contentType().equals("application/proto")) {
            throw new MalformedException("it has the content type " + Names.quoted(answer.contentType())
                + "; is this the address of a Tidemark node?");
        }
        return request.decoder().decode(new ProtoReader(answer.body(), 0, answer.length()));
    }

    private byte[] head(Address address, Request<?> request, int length) throws Failure {
        String head = "POST /tidemark.v1." + request.method() + " HTTP/1.1\r\n"
            + "Host: " + address + "\r\n"
            + "Content-Type: application/proto\r\n"
            + "Connect-Protocol-Version: 1\r\n"
            + credentials.header()
            + "Content-Length: " + length + "\r\n\r\n";
        return head.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static Failure unanswered(Address address, IOException e, Deadline end) {
        if (end.passed()) {
            return Failure.late(address + " gave no answer in time", e);
        }
        return Failure.unanswered(address + " gave no answer that can be read: " + e.getMessage(), e);
    }

    /** Lets go of an address that has failed. */
    void forget(Address address) {
        connections.forget(address);
    }
}
