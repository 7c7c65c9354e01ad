package io.github.tidemarkmq.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers that no good node gives: clear words, bounded time and memory, and nothing believed. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\n";
    private static final OffsetKey KEY = new OffsetKey("g", "t", "b", 0);
    private static final List<OffsetKey> KEYS = Collections.singletonList(KEY);
    private static final List<Commit> COMMITS = Collections.singletonList(new Commit(KEY, 1, 0));

    private static Deadline in(long millis) {
        return Deadline.after(millis, TimeUnit.MILLISECONDS);
    }

    private static byte[] bytes(String s) {
        return s.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Asks a node of this script, and gives the words of the failures of a read and of a commit. */
    private static String refused(FakeNode.Script script) throws Exception {
        try (FakeNode node = new FakeNode(script); TidemarkClient client = node.client()) {
            TidemarkException read = assertThrows(TidemarkException.class,
                () -> client.fetch(KEYS, ReadAt.LINEARIZABLE, in(2000)));
            assertEquals(Code.UNREACHABLE, read.code(), read.getMessage());
            TidemarkException write = assertThrows(TidemarkException.class,
                () -> client.commit(FakeNode.CLUSTER, COMMITS, in(2000)));
            assertEquals(Code.OUTCOME_UNKNOWN, write.code(), write.getMessage());
            return read.getMessage() + " | " + write.getMessage();
        }
    }

    private static void says(String words, String message) {
        assertTrue(message.contains(words), message);
    }

    @Test
    void anAnswerCutInTheMiddle() throws Exception {
        says("before the answer had come whole", refused((n, head, out) -> {
            out.write(bytes(OK + "Content-Length: 100\r\n\r\nabc"));
            out.flush();
            throw new IOException("cut");
        }));
    }

    @Test
    void noAnswerAtAll() throws Exception {
        says("before the answer had come whole", refused((n, head, out) -> {
            throw new IOException("cut");
        }));
    }

    @Test
    void aPageOfSomebodyElse() throws Exception {
        says("is this the address of a Tidemark node?",
            refused((n, head, out) -> out.write(FakeNode.whole("200 OK", "text/html", bytes("<html>hello</html>")))));
    }

    @Test
    void wordsThatAreNotHttp() throws Exception {
        says("does not begin as HTTP does", refused((n, head, out) -> out.write(bytes("SSH-2.0-OpenSSH_9.2\r\n\r\n"))));
    }

    @Test
    void wrongJson() throws Exception {
        says("not JSON",
            refused((n, head, out) -> out.write(FakeNode.whole("503 X", "application/json", bytes("{\"code\":")))));
    }

    @Test
    void aBodyThatIsNoMessage() throws Exception {
        says("longer than what came", refused((n, head, out) -> out.write(FakeNode.whole("200 OK", "application/proto",
            new byte[] {10, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, 7, 1}))));
    }

    @Test
    void statesThatNobodyAskedFor() throws Exception {
        Position p = new Position(5, 1, 1, 1, false);
        KeyState other = new KeyState(new OffsetKey("g", "t", "b", 1), true, p, 1, 0);
        KeyState right = new KeyState(KEY, true, p, 1, 0);
        try (FakeNode node = new FakeNode((n, head, out) -> {
            ProtoWriter w = FakeNode.meta("");
            FakeNode.state(w, 2, n % 2 == 0 ? other : right);
            out.write(FakeNode.ok(n % 2 == 0 ? w : FakeNode.state(w, 2, right)));
        }); TidemarkClient client = node.client()) {
            TidemarkException e = assertThrows(TidemarkException.class,
                () -> client.fetch(KEYS, ReadAt.LINEARIZABLE, in(2000)));
            assertEquals(Code.UNREACHABLE, e.code(), e.getMessage());
            assertTrue(node.requests.get() >= 2, "both kinds came");
        }
    }

    @Test
    void anEndlessHead() throws Exception {
        AtomicLong sent = new AtomicLong();
        says("its head has more than", refused((n, head, out) -> {
            out.write(bytes("HTTP/1.1 200 OK\r\n"));
            endless(out, bytes("X-Header: and so on\r\n"), sent);
        }));
    }

    @Test
    void anEndlessLine() throws Exception {
        says("its head has more than", refused((n, head, out) -> {
            out.write(bytes("HTTP/1.1 200 OK\r\nX-Header: "));
            endless(out, bytes("aaaaaaaaaaaaaaaa"), new AtomicLong());
        }));
    }

    @Test
    void anEndlessBody() throws Exception {
        AtomicLong sent = new AtomicLong();
        byte[] chunk = new byte[1 << 16];
        try (FakeNode node = new FakeNode((n, head, out) -> {
            out.write(bytes(OK + "Transfer-Encoding: chunked\r\n\r\n"));
            byte[] one = new byte[chunk.length + 9];
            System.arraycopy(bytes("10000\r\n"), 0, one, 0, 7);
            System.arraycopy(bytes("\r\n"), 0, one, one.length - 2, 2);
            endless(out, one, sent);
        }); TidemarkClient client = TidemarkClient.open(
            ClientOptions.seeds(node.address()).attemptMillis(20_000).build())) {
            TidemarkException e = assertThrows(TidemarkException.class,
                () -> client.fetch(KEYS, ReadAt.LINEARIZABLE, in(5000)));
            says("it has more than", e.getMessage());
            int attempts = node.requests.get();
            assertTrue(sent.get() < attempts * (HttpAnswer.MAX_BODY + (32L << 20)),
                attempts + " attempts took " + sent + " bytes");
        }
    }

    private static void endless(OutputStream out, byte[] piece, AtomicLong sent) throws IOException {
        while (true) {
            out.write(piece);
            sent.addAndGet(piece.length);
        }
    }

    @Test
    void aLengthBeyondAllReason() throws Exception {
        says("it has more than",
            refused((n, head, out) -> out.write(bytes(OK + "Content-Length: 999999999999999999\r\n\r\n"))));
    }

    @Test
    void aByteASecond() throws Exception {
        long began = System.nanoTime();
        says("gave no answer in time", refused((n, head, out) -> {
            for (byte b : bytes(OK + "Content-Length: 1\r\n\r\n")) {
                out.write(b);
                out.flush();
                Thread.sleep(50);
            }
        }));
        assertTrue(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(10), "two calls of a second");
    }

    @Test
    void aWriterWhosePeerReadsNothingIsCutOff() throws Exception {
        try (ServerSocket deaf = new ServerSocket(); Socket socket = new Socket(); Alarms alarms = new Alarms()) {
            deaf.setReceiveBufferSize(4096);
            deaf.bind(new InetSocketAddress("127.0.0.1", 0), 1);
            socket.setSendBufferSize(4096);
            socket.connect(deaf.getLocalSocketAddress());
            HttpConnection c = new HttpConnection(Address.parse("127.0.0.1:1"), socket, socket, null);
            ProtoWriter large = new ProtoWriter(0);
            while (large.length() < 8 << 20) {
                large.varint(Long.MAX_VALUE);
            }
            alarms.at(in(200), c::cut);
            assertThrows(IOException.class, () -> c.send(new byte[0], large, new ProtoWriter(0)));
        }
    }

    @Test
    void httpSpokenToHttps() throws Exception {
        try (FakeNode node = new FakeNode((n, head, out) -> {
            out.write(bytes("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"));
            out.flush();
            throw new IOException("done");
        }); TidemarkClient client = node.client()) {
            TidemarkException e = assertThrows(TidemarkException.class, () -> client.status(in(5000)));
            assertEquals(Code.INVALID, e.code());
            says("Client sent an HTTP request to an HTTPS server.", e.getMessage());
        }
    }

    @Test
    void anErrorCannotForgeALogLineOrPretendToBeFine() throws Exception {
        says("two lines", refused((n, head, out) -> out.write(
            FakeNode.error(503, n == 1 ? Code.OK : Code.OUTCOME_UNKNOWN, "two\nlines", ""))));
    }
}
