package io.github.tidemarkmq.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** All that reads bytes from outside reads or refuses damaged ones, and does nothing else. */
class FuzzTest {
    private static final OffsetKey KEY = new OffsetKey("g", "t", "b", 1);
    private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\n";

    private static byte[] trimmed(ProtoWriter w) {
        return Arrays.copyOf(w.array(), w.length());
    }

    /** Reads an answer, and gives all that it holds as text. */
    private interface Reading {
        String read(ProtoReader r) throws Exception;
    }

    private static void answers(byte[] whole, Reading reading) {
        Fuzz.run(Collections.singletonList(whole), 20_000, MalformedException.class, b -> {
            // Within others: what goes beyond its end reads something else, and is found by it.
            byte[] within = new byte[b.length + 64];
            Arrays.fill(within, (byte) 0x7f);
            System.arraycopy(b, 0, within, 32, b.length);
            assertEquals(reading.read(new ProtoReader(b, 0, b.length)),
                reading.read(new ProtoReader(within, 32, 32 + b.length)));
        });
    }

    private static KeyState state() {
        return new KeyState(KEY, true, new Position(Long.MAX_VALUE, 7, 6, 5, true), 6, 3);
    }

    @Test
    void verdicts() throws Exception {
        ProtoWriter w = FakeNode.meta("n1:7411");
        int list = w.begin(2);
        w.varint(9);
        w.end(list);
        int refused = w.begin(3);
        w.number(2, 7);
        FakeNode.state(w, 3, state());
        w.end(refused);
        answers(trimmed(w), r -> {
            CommitAnswer a = new CommitMessages(Collections.singletonList(new Commit(KEY, 9, 6))).answer(r);
            assertEquals(1, a.size());
            return a.meta() + " " + a.offset(0) + " " + a.refusals();
        });
    }

    @Test
    void states() throws Exception {
        answers(trimmed(FakeNode.state(FakeNode.meta(""), 2, state())), r -> {
            FetchAnswer a = ReadMessages.fetched(Collections.singletonList(KEY), r);
            assertEquals(1, a.states().size());
            assertEquals(KEY, a.states().get(0).key());
            return a.meta() + " " + a.states();
        });
    }

    @Test
    void pages() throws Exception {
        answers(trimmed(FakeNode.state(FakeNode.meta(""), 3, state()).flag(4, true)), r -> {
            KeyPage p = ReadMessages.page(r);
            assertTrue(!p.more() || p.last() != null, "more, and nobody knows after what");
            return p.meta() + " " + p.states() + " " + p.more() + " " + p.last();
        });
    }

    @Test
    void sets() throws Exception {
        answers(trimmed(FakeNode.state(FakeNode.meta("").flag(2, true), 3, state())), r -> {
            SetMessages.Verdict v = SetMessages.answer(KEY, r);
            assertEquals(KEY, v.state.key());
            return v.meta + " " + v.applied + " " + v.state;
        });
    }

    @Test
    void acts() throws Exception {
        ProtoWriter act = FakeNode.meta("").number(2, 9).number(3, 5).flag(4, true).number(6, 1);
        Messages.key(act, 8, KEY);
        answers(trimmed(act), r -> {
            ActAnswer a = ActMessages.answer(r);
            assertTrue(a.index() >= 0 && a.changed() >= 0 && a.kept() >= 0 && a.next() >= 0, "a count below 0");
            return a.meta() + " " + a.code() + " " + a.index() + " " + a.done() + " " + a.next() + " " + a.changed()
                + " " + a.kept() + " " + a.names();
        });
    }

    @Test
    void statuses() throws Exception {
        ProtoWriter w = FakeNode.meta("").text(2, "n1/x").text(3, "leader").number(8, 1).number(9, 1);
        int member = w.begin(16);
        w.text(1, "n1/x").text(3, "127.0.0.1:1").flag(4, true);
        w.end(member);
        answers(trimmed(w), r -> {
            ClusterStatus c = StatusMessages.answer(r);
            return c.meta() + " " + c.nodeId() + " " + c.state() + " " + c.level() + " " + c.maxLevel() + " "
                + c.notReady() + " " + c.members().size() + " " + c.version();
        });
    }

    /** Reads an answer that comes in pieces of at most so many bytes, and gives it as text. */
    private static String http(byte[] b, int piece) throws IOException {
        InputStream in = new ByteArrayInputStream(b) {
            @Override
            public synchronized int read(byte[] to, int off, int len) {
                return super.read(to, off, Math.min(len, piece));
            }
        };
        HttpAnswer a = new HttpAnswer(in);
        a.read();
        assertTrue(a.status() >= 200 && a.status() < 1000, "the status " + a.status());
        return a.status() + " " + a.contentType() + " " + a.keepAlive() + " "
            + new String(a.body(), 0, a.length(), StandardCharsets.ISO_8859_1);
    }

    private static String httpOrRefusal(byte[] b, int piece) {
        try {
            return http(b, piece);
        } catch (IOException e) {
            return "refused: " + e.getMessage();
        }
    }

    @Test
    void httpAnswers() {
        String chunks = "3\r\nabc\r\n0a;x=1\r\n0123456789\r\n0\r\nT: x\r\n\r\n";
        List<byte[]> whole = Fuzz.texts(HEAD + "Transfer-Encoding: chunked\r\n\r\n" + chunks,
            HEAD + "Content-Length: 5\r\n\r\nabcde", "HTTP/1.0 400 Bad Request\r\nConnection: close\r\n\r\nwhat");
        Fuzz.run(whole, 20_000, IOException.class, b -> {
            assertEquals(httpOrRefusal(b, b.length + 1), httpOrRefusal(b, 1), "in pieces it is another one");
            http(b, 7);
        });
    }

    @Test
    void json() {
        List<byte[]> whole = Fuzz.texts("{\"code\":\"unavailable\",\"message\":\"x\\u00e9\\n\","
            + "\"details\":[{\"type\":\"t\",\"n\":-1.5e3,\"b\":true}]}");
        Fuzz.run(whole, 20_000, MalformedException.class, b -> {
            String text = new String(b, StandardCharsets.ISO_8859_1);
            Map<?, ?> read = Json.object(text);
            assertEquals(read.toString(), Json.object(" " + text + "\r\n").toString());
            assertEquals(0, depth(text), "its brackets do not match");
        });
    }

    /** How many brackets outside of strings are open at the end. */
    private static int depth(String json) {
        int open = 0;
        boolean in = false;
        for (int i = 0; i < json.length(); i++) {
            char c = json.charAt(i);
            if (in && c == '\\') {
                i++;
            } else if (c == '"') {
                in = !in;
            } else if (!in) {
                open += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
            }
        }
        return in ? -1 : open;
    }

    @Test
    void errors() throws Exception {
        ProtoWriter w = new ProtoWriter(0).number(1, 7).text(2, "busy\nnow").text(3, "n1:7411");
        String ours = Base64.getEncoder().withoutPadding().encodeToString(trimmed(w));
        String body = "{\"code\":\"unavailable\",\"message\":\"busy\",\"details\":[{\"type\":\"tidemark.v1.Error\","
            + "\"value\":\"" + ours + "\"}]}";
        Fuzz.run(Fuzz.texts(body), 20_000, MalformedException.class, b -> {
            String head = "HTTP/1.1 503 X\r\nContent-Type: application/json\r\n"
                + "Content-Length: " + b.length + "\r\n\r\n";
            byte[] all = Arrays.copyOf(head.getBytes(StandardCharsets.ISO_8859_1), head.length() + b.length);
            System.arraycopy(b, 0, all, head.length(), b.length);
            HttpAnswer a = new HttpAnswer(new ByteArrayInputStream(all));
            a.read();
            Failure f = ErrorBody.read(a);
            assertNotEquals(Code.OK, f.code());
            assertFalse(f.getMessage().chars().anyMatch(Character::isISOControl), "a line of a log could be forged");
            assertTrue(f.leader().isEmpty() || Address.parse(f.leader()) != null, f.leader());
        });
    }

    /** Refuses as the others do: what is not an address is null. */
    private static Address address(String text) throws MalformedException {
        Address a = Address.parse(text);
        if (a == null) {
            throw new MalformedException("no address");
        }
        return a;
    }

    @Test
    void addresses() {
        Fuzz.run(Fuzz.texts("[::1]:7411", "n1.example:1", "10.0.0.1:65535"), 20_000, MalformedException.class, b -> {
            Address a = address(new String(b, StandardCharsets.UTF_8));
            Address again = Address.parse(a.toString());
            assertNotNull(again, a.toString());
            assertEquals(a.host() + " " + a.port(), again.host() + " " + again.port());
            assertTrue(a.host().chars().allMatch(c -> c > ' ' && c <= '~'), "it could forge a header");
            assertTrue(a.port() > 0 && a.port() < 65536, "the port " + a.port());
        });
    }

    @Test
    void keysInFiles() throws Exception {
        KeyPairGenerator g = KeyPairGenerator.getInstance("EC");
        g.initialize(256);
        KeyPair p = g.generateKeyPair();
        byte[] pkcs8 = p.getPrivate().getEncoded();
        byte[] older = Arrays.copyOfRange(pkcs8, 28, pkcs8.length);
        List<byte[]> whole = Fuzz.texts(pem("PRIVATE KEY", pkcs8), pem("EC PRIVATE KEY", older));
        Fuzz.run(whole, 1_000, TidemarkException.class, b -> {
            PrivateKey read = Pem.key("f", new String(b, StandardCharsets.UTF_8), p.getPublic());
            assertEquals(number(p.getPrivate()), number(read));
        });
    }

    /** What the key is; its encoding may be followed by bytes that mean nothing. */
    private static BigInteger number(PrivateKey key) {
        return ((ECPrivateKey) key).getS();
    }

    @Test
    void certificates() {
        Fuzz.run(Fuzz.texts(CERTIFICATE), 2_000, TidemarkException.class,
            b -> assertFalse(Pem.certificates("f", new String(b, StandardCharsets.UTF_8)).isEmpty()));
    }

    private static String pem(String kind, byte[] der) {
        return "-----BEGIN " + kind + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + kind
            + "-----\n";
    }

    /** Made for this test; its key is gone. */
    private static final String CERTIFICATE = "-----BEGIN CERTIFICATE-----\n"
        + "MIIBbjCCARWgAwIBAgIUMWxiNTKBCu2+sOMvDq0bEKYJwNswCgYIKoZIzj0EAwIw\n"
        + "DTELMAkGA1UEAwwCbjEwHhcNMjYxMTMwMTc1MjUyWhcNMzYxMTI3MTc1MjUyWjAN\n"
        + "MQswCQYDVQQDDAJuMTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEVpXIyZjPNP\n"
        + "kSsBgHwsYWMMxii072h/IC0P128pHK7OQAH8gS5FMYNmzjUSafsfZMBIOxTUZ9Jp\n"
        + "1I/jaVCXNQijUzBRMB0GA1UdDgQWBBRboab25QI9fzei1QYAR8Remn9lJTAfBgNV\n"
        + "HSMEGDAWgBRboab25QI9fzei1QYAR8Remn9lJTAPBgNVHRMBAf8EBTADAQH/MAoG\n"
        + "CCqGSM49BAMCA0cAMEQCIDiI1XSmOhht3Q6axDHiMuUqeeoesK82hskNZ9cqZEpT\n"
        + "AiAJCzgYcEzE1DgKXKmGG0O76YY9SAvHUHQOCP6Nw0f1BA==\n"
        + "-----END CERTIFICATE-----\n";
}
