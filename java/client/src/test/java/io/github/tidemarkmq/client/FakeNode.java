package io.github.tidemarkmq.client;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A node that answers what a test says, byte for byte. It answers /livez unless a test has it not to. */
final class FakeNode implements AutoCloseable {
    static final String CLUSTER = "00112233445566778899aabbccddeeff";
    private static final Pattern LENGTH = Pattern.compile("(?i)content-length: *([0-9]+)");

    private final ServerSocket server;
    private final Script script;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Socket> sockets = new ArrayList<>();
    /** Requests of the API that came whole. */
    final AtomicInteger requests = new AtomicInteger();
    /** Whether /livez is answered. */
    volatile boolean alive = true;

    /** What is answered to the n-th request of the API, from 1. What is thrown closes the connection. */
    interface Script {
        void answer(int n, String head, OutputStream out) throws Exception;
    }

    FakeNode(Script script) throws IOException {
        this(new ServerSocket(0, 64, InetAddress.getLoopbackAddress()), script);
    }

    /** One that listens on a socket of the test's. */
    FakeNode(ServerSocket server, Script script) throws IOException {
        this.script = script;
        this.server = server;
        begin(this::accept);
    }

    String address() {
        return "127.0.0.1:" + server.getLocalPort();
    }

    TidemarkClient client() throws TidemarkException {
        return TidemarkClient.open(ClientOptions.seeds(address()).build());
    }

    private synchronized void begin(Runnable r) {
        Thread t = new Thread(r, "fake-node");
        threads.add(t);
        t.start();
    }

    private void accept() {
        while (true) {
            try {
                Socket s = server.accept();
                synchronized (this) {
                    sockets.add(s);
                }
                begin(() -> serve(s));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket s) {
        try (Socket socket = s) {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            while (true) {
                String head = head(in);
                Matcher m = LENGTH.matcher(head);
                in.readFully(new byte[m.find() ? Integer.parseInt(m.group(1)) : 0]);
                if (head.startsWith("GET /livez")) {
                    out.write(alive ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes() : new byte[0]);
                } else {
                    script.answer(requests.incrementAndGet(), head, out);
                }
                out.flush();
            }
        } catch (Exception e) {
            return; // the connection ends with it
        }
    }

    private static String head(DataInputStream in) throws IOException {
        ByteArrayOutputStream b = new ByteArrayOutputStream();
        while (true) {
            b.write(in.readByte());
            String s = b.toString("ISO-8859-1");
            if (s.endsWith("\r\n\r\n")) {
                return s;
            }
        }
    }

    /** A whole answer with a protobuf body. */
    static byte[] ok(ProtoWriter body) {
        return whole("200 OK", "application/proto", java.util.Arrays.copyOf(body.array(), body.length()));
    }

    /** An error as nodes give it. */
    static byte[] error(int status, Code code, String text, String leader) throws TidemarkException {
        ProtoWriter w = new ProtoWriter(64).number(1, code.number()).text(2, text).text(3, leader);
        String value = java.util.Base64.getEncoder().withoutPadding()
            .encodeToString(java.util.Arrays.copyOf(w.array(), w.length()));
        String json = "{\"code\":\"x\",\"message\":\"m\",\"details\":[{\"type\":\"tidemark.v1.Error\",\"value\":\""
            + value + "\"}]}";
        return whole(status + " X", "application/json", json.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] whole(String status, String type, byte[] body) {
        String head = "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + body.length
            + "\r\n\r\n";
        ByteArrayOutputStream b = new ByteArrayOutputStream();
        byte[] h = head.getBytes(StandardCharsets.ISO_8859_1);
        b.write(h, 0, h.length);
        b.write(body, 0, body.length);
        return b.toByteArray();
    }

    /** Begins an answer with its meta, which names a leader. */
    static ProtoWriter meta(String leader) throws TidemarkException {
        ProtoWriter w = new ProtoWriter(256);
        int m = w.begin(1);
        w.text(1, CLUSTER).number(2, 10).text(4, leader);
        w.end(m);
        return w;
    }

    /** Adds a field that holds a state. */
    static ProtoWriter state(ProtoWriter w, int field, KeyState s) throws TidemarkException {
        int m = w.begin(field);
        Messages.key(w, 1, s.key());
        w.flag(2, s.exists());
        int p = w.begin(3);
        w.number(1, s.position().offset()).number(2, s.position().index()).number(3, s.position().epoch());
        w.number(4, s.position().time()).flag(5, s.position().pending());
        w.end(p);
        w.number(4, s.epoch()).number(5, s.claim());
        w.end(m);
        return w;
    }

    @Override
    public void close() throws IOException {
        server.close();
        List<Thread> all;
        synchronized (this) {
            for (Socket s : sockets) {
                s.close();
            }
            all = new ArrayList<>(threads);
        }
        try {
            for (Thread t : all) {
                t.interrupt();
                t.join(TimeUnit.SECONDS.toMillis(10));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
