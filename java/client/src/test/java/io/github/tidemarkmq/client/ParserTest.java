package io.github.tidemarkmq.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What reads bytes from outside: protobuf, HTTP, JSON, addresses; see {@link FuzzTest} too. */
class ParserTest {
    private static final OffsetKey KEY = new OffsetKey("g", "t", "b", 1);

    private static byte[] trimmed(ProtoWriter w) {
        return Arrays.copyOf(w.array(), w.length());
    }

    private static ProtoReader reader(byte[] b) {
        return new ProtoReader(b, 0, b.length);
    }

    @Test
    void numbersKeepAll64Bits() throws Exception {
        for (long v : new long[] {1, 127, 128, 16383, 16384, Integer.MAX_VALUE, Long.MAX_VALUE, -1, Long.MIN_VALUE}) {
            ProtoWriter w = new ProtoWriter(0).number(1, v);
            assertEquals(1 + ProtoWriter.sizeOf(v), w.length(), "of " + v);
            ProtoReader r = reader(trimmed(w));
            assertTrue(r.next());
            assertEquals(v, r.number());
            assertFalse(r.next());
        }
    }

    @Test
    void messagesOfEachLengthAreFramed() throws Exception {
        for (int n : new int[] {0, 1, 127, 128, 129, 16383, 16384, 100_000}) {
            char[] c = new char[n];
            Arrays.fill(c, n % 2 == 0 ? 'a' : 'é');
            ProtoWriter w = new ProtoWriter(0);
            int m = w.begin(3);
            w.presentText(1, new String(c));
            w.end(m);
            w.number(4, 9);
            ProtoReader r = reader(trimmed(w));
            assertTrue(r.next());
            int outer = r.enter();
            assertTrue(r.next());
            assertEquals(new String(c), r.text(""));
            assertTrue(r.atEnd());
            r.leave(outer);
            assertTrue(r.next());
            assertEquals(9, r.number());
        }
    }

    @Test
    void whatIsNotProtobufIsSaidToBe() {
        byte[][] bad = {{8}, {8, (byte) 0x80}, {0, 1}, {11}, {12}, {10, 5, 1}, {9, 1}, {13, 1}, {15, 1},
            {8, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2}, {10, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1},
            {10, 2, (byte) 0xc3, 0x28}, {16, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1}};
        for (byte[] b : bad) {
            assertThrows(MalformedException.class, () -> {
                ProtoReader r = reader(b);
                while (r.next()) {
                    if (r.field() == 1) {
                        if (r.packed()) {
                            r.text("");
                        } else {
                            r.number();
                        }
                    } else if (r.field() == 2) {
                        r.natural();
                    } else {
                        r.skip();
                    }
                }
            }, Arrays.toString(b));
        }
    }

    private static HttpAnswer http(String s) throws IOException {
        return http(s, Integer.MAX_VALUE);
    }

    /** Reads an answer that comes in pieces of at most so many bytes. */
    private static HttpAnswer http(String s, int piece) throws IOException {
        InputStream in = new ByteArrayInputStream(s.getBytes(StandardCharsets.ISO_8859_1)) {
            @Override
            public synchronized int read(byte[] b, int off, int len) {
                return super.read(b, off, Math.min(len, piece));
            }
        };
        HttpAnswer a = new HttpAnswer(in);
        a.read();
        return a;
    }

    private static String text(HttpAnswer a) {
        return new String(a.body(), 0, a.length(), StandardCharsets.ISO_8859_1);
    }

    @Test
    void answersComeInAnyPieces() throws Exception {
        for (int piece : new int[] {1, 2, 3, 7, 1000}) {
            HttpAnswer a = http("HTTP/1.1 200 OK\r\nContent-Type: Application/Proto; x=y\r\nTransfer-Encoding: chunked"
                + "\r\n\r\n3;x=1\r\nabc\r\n0a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", piece);
            assertEquals(200, a.status());
            assertEquals("application/proto", a.contentType());
            assertEquals("abc0123456789", text(a));
            assertTrue(a.keepAlive());
            assertTrue(a.clean());
        }
        assertFalse(http("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").keepAlive());
        HttpAnswer error = http("HTTP/1.0 400 Bad Request\r\n\r\nwhat");
        assertEquals("what", text(error));
        assertFalse(error.keepAlive());
    }

    @Test
    void answersThatAreNotHttpAreRefused() {
        String ok = "HTTP/1.1 200 OK\r\n";
        for (String bad : new String[] {"", "\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 -20 OK\r\n\r\n", "HTTP/1.1 2000\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", ok + "\r\n",
            ok + "Content-Length: -1\r\n\r\n", ok + "Content-Length: +1\r\n\r\na", ok + "Content-Length: 1x\r\n\r\n",
            ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", ok + "no colon\r\n\r\n",
            ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            ok + "Transfer-Encoding: gzip\r\n\r\n", ok + "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
            ok + "Content-Length: 99999999\r\n\r\n", ok + "Content-Length: 9999999999999999999999\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", ok + "Content-Length: 5\r\n\r\nabc"}) {
            assertThrows(IOException.class, () -> http(bad), bad);
        }
    }

    @Test
    void jsonIsReadStrictly() throws Exception {
        assertEquals("{a=x\"\\/\b\f\n\r\té, b=[{}, []]}",
            Json.object(" {\"a\":\"x\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\" , \"b\" : [ {}, [] ]} ").toString());
        assertEquals("-1.5e+3", Json.object("{\"n\":-1.5e+3}").get("n").toString());
        String deep = String.join("", Collections.nCopies(100_000, "["));
        for (String bad : new String[] {"", "[]", "1", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":01}",
            "{\"a\":1}x", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u00g0\"}", "{\"a\":tru}", "{'a':1}",
            "{\"a\":1,\"a\":2}", "{\"a\":\"", "{\"a\":[1,]}", "{\"a\":" + deep}) {
            String shown = bad.substring(0, Math.min(20, bad.length()));
            assertThrows(MalformedException.class, () -> Json.object(bad), shown);
        }
    }

    @Test
    void addressesAreHostAndPort() {
        assertEquals("[::1]:7411", String.valueOf(Address.parse("[::1]:7411")));
        assertEquals("n1.example:1", String.valueOf(Address.parse("n1.example:1")));
        assertTrue(Address.parse("10.0.0.1:1").literal());
        assertFalse(Address.parse("10.example:1").literal());
        for (String bad : new String[] {"", ":1", "a", "a:", "a:0", "a:65536", "a:-1", "a:1x", "::1:7411", "a b:1",
            "a/b:1", "u@h:1", "a\r\nX: y:1", "[]:1", "a:٣"}) {
            assertNull(Address.parse(bad), bad);
        }
    }

    @Test
    void namesAreWrittenSafely() {
        assertEquals("g/t/b/1", KEY.toString());
        assertEquals("\"a\\u000ab\"/\"x\\\"y\"/\"\\u7ec4\"/2", new OffsetKey("a\nb", "x\"y", "组", 2).toString());
    }

    @Test
    void aRequestSharesNamesAndEpochs() throws Exception {
        List<Commit> list = new ArrayList<>();
        for (int q = 0; q < 100; q++) {
            list.add(new Commit(new OffsetKey("group", "topic", "broker", q), 1000 + q, 5));
        }
        byte[] sorted = trimmed(new CommitMessages(list).request(FakeNode.CLUSTER, false));
        Collections.shuffle(list, new Random(7));
        assertArrayEquals(sorted, trimmed(new CommitMessages(list).request(FakeNode.CLUSTER, false)));
        assertTrue(sorted.length < 34 + 40 + 100 * 3, "it has " + sorted.length + " bytes");
    }
}
