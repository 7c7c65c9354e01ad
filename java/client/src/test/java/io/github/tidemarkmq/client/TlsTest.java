package io.github.tidemarkmq.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** TLS, certificates and tokens, against a real node; the command line makes them (the property {@code tidemark}). */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TlsTest {
    private static Path folder;
    private static TestCluster cluster;

    @BeforeAll
    static void start() throws Exception {
        folder = Files.createTempDirectory("tidemark-java-tls");
        tidemark("cert", "ca", file("certs"));
        tidemark("cert", "node", "n1", "127.0.0.1", "--dir", file("certs"));
        tidemark("cert", "client", "app", "--dir", file("certs"));
        tidemark("cert", "client", "stranger", "--dir", file("certs"));
        tidemark("cert", "ca", file("others"));
        tidemark("cert", "client", "app", "--dir", file("others"));
        String line = tidemark("token", "ops", "--out", file("ops.token"));
        write("tokens", line.substring(line.lastIndexOf("ops ")));
        write("policy", "rules:\n  - {callers: [app], may: [commit], groups: [g]}\n"
            + "  - {callers: [ops], may: [admin]}\n");
        cluster = TestCluster.start(1, o -> o.tls(ca()).tokenFile(file("ops.token")),
            "--tls-cert", file("certs/n1.crt"), "--tls-key", file("certs/n1.key"), "--tls-client-ca",
            file("certs/ca.crt"), "--tokens", file("tokens"), "--policy", file("policy"));
    }

    @AfterAll
    static void stop() throws Exception {
        if (cluster != null) {
            cluster.close();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
    }

    private static String file(String name) {
        return folder.resolve(name).toString();
    }

    private static void write(String name, String text) throws IOException {
        Path beside = folder.resolve(name + ".new");
        Files.write(beside, text.getBytes(StandardCharsets.UTF_8));
        Files.move(beside, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Runs the command line, and gives what it printed. */
    private static String tidemark(String... args) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("tidemark", "../../bin/tidemark"));
        command.addAll(Arrays.asList(args));
        Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
        BufferedReader r = new BufferedReader(new InputStreamReader(p.getInputStream(), StandardCharsets.UTF_8));
        String out = r.lines().collect(Collectors.joining("\n"));
        assertEquals(0, p.waitFor(), command + ": " + out);
        return out;
    }

    private static TlsFiles ca() {
        return new TlsFiles(file("certs/ca.crt"), "", "");
    }

    private static TlsFiles as(String name) {
        return new TlsFiles(file("certs/ca.crt"), file(name + ".crt"), file(name + ".key"));
    }

    private static Deadline soon() {
        return Deadline.after(20, TimeUnit.SECONDS);
    }

    private static ClientOptions.Builder seeds() {
        return ClientOptions.seeds("https://" + cluster.addresses()[0]);
    }

    private static TidemarkException fails(ClientOptions.Builder options) throws Exception {
        try (TidemarkClient client = TidemarkClient.open(options.build())) {
            return assertThrows(TidemarkException.class, () -> client.listKeys(KeyFilter.ALL.group("g"), null, 1,
                ReadAt.LINEARIZABLE, Deadline.after(2, TimeUnit.SECONDS)));
        }
    }

    private static CommitAnswer commit(TidemarkClient client, String group) throws TidemarkException {
        OffsetKey key = new OffsetKey(group, "t", "b", 0);
        FetchAnswer read = client.fetch(Collections.singletonList(key), ReadAt.LINEARIZABLE, soon());
        return client.commit(read.meta().clusterId(),
            Collections.singletonList(new Commit(key, 1, read.states().get(0).epoch())), soon());
    }

    @Test
    void aCertificateSaysWhoOneIs() throws Exception {
        try (TidemarkClient app = TidemarkClient.open(seeds().tls(as("certs/app")).build())) {
            assertTrue(commit(app, "g").accepted(0));
            TidemarkException e = assertThrows(TidemarkException.class, () -> commit(app, "another"));
            assertEquals(Code.DENIED, e.code(), e.getMessage());
        }
        assertEquals(Code.DENIED, fails(seeds().tls(as("certs/stranger"))).code());
        assertEquals(Code.DENIED, fails(seeds().tls(ca())).code());
    }

    @Test
    void aTokenSaysWhoOneIsAndIsReadAgainWhenItChanges() throws Exception {
        String good = text("ops.token").trim();
        try (TidemarkClient ops = TidemarkClient.open(seeds().tls(ca()).token(good).build())) {
            assertTrue(commit(ops, "whatever").accepted(0));
        }
        assertEquals(Code.DENIED, fails(seeds().tls(ca()).token(good + "x")).code());
        write("changing.token", good + "\n");
        try (TidemarkClient ops = TidemarkClient.open(seeds().tls(ca()).tokenFile(file("changing.token")).build())) {
            assertTrue(commit(ops, "whatever").accepted(0));
            write("changing.token", "wrong-now\n");
            await(ops, Code.DENIED);
            write("changing.token", good + "\n");
            await(ops, Code.OK);
        }
    }

    private static void await(TidemarkClient client, Code wanted) throws Exception {
        Code last;
        Deadline end = soon();
        do {
            try {
                commit(client, "g");
                last = Code.OK;
            } catch (TidemarkException e) {
                last = e.code();
            }
            Thread.sleep(10);
        } while (last != wanted && !end.passed());
        assertEquals(wanted, last);
    }

    @Test
    void certificatesAreReadAgainWhenTheyChange() throws Exception {
        copy("certs/app.crt", "mine.crt");
        copy("certs/app.key", "mine.key");
        try (TidemarkClient client = TidemarkClient.open(seeds().tls(as("mine")).lookMillis(0).build())) {
            assertTrue(commit(client, "g").accepted(0));
            copy("certs/stranger.crt", "mine.crt");
            copy("certs/stranger.key", "mine.key");
            await(client, Code.DENIED);
            write("mine.key", "half");
            copy("certs/app.crt", "mine.crt");
            TidemarkException e = assertThrows(TidemarkException.class, () -> commit(client, "g"));
            assertEquals(Code.DENIED, e.code(), "what cannot be used changes nothing: " + e.getMessage());
            copy("certs/app.key", "mine.key");
            await(client, Code.OK);
        }
    }

    private static void copy(String from, String to) throws IOException {
        write(to, text(from));
    }

    private static String text(String name) throws IOException {
        return new String(Files.readAllBytes(folder.resolve(name)), StandardCharsets.UTF_8);
    }

    @Test
    void aNodeThatIsNotTrustedGetsNothing() throws Exception {
        TlsFiles others = new TlsFiles(file("others/ca.crt"), "", "");
        TidemarkException e = fails(seeds().tls(others));
        assertEquals(Code.UNREACHABLE, e.code());
        assertTrue(e.getMessage().contains("no TLS with 127.0.0.1"), e.getMessage());
        e = fails(seeds()); // the JVM's own authorities do not know it
        assertEquals(Code.UNREACHABLE, e.code());
        String port = cluster.addresses()[0].split(":")[1];
        e = fails(ClientOptions.seeds("https://localhost:" + port).tls(ca()));
        assertEquals(Code.UNREACHABLE, e.code(), "another name than the certificate's: " + e.getMessage());
    }

    @Test
    void tlsAndPlainDoNotMeetInSilence() throws Exception {
        TidemarkException e = fails(ClientOptions.seeds(cluster.addresses()));
        assertEquals(Code.INVALID, e.code());
        assertTrue(e.getMessage().contains("HTTPS"), e.getMessage());
        try (FakeNode plain = new FakeNode((n, head, out) -> out.write("HTTP/1.1 400 no\r\n\r\n".getBytes()))) {
            e = fails(ClientOptions.seeds("https://" + plain.address()).tls(ca()));
            assertEquals(Code.UNREACHABLE, e.code());
        }
    }

    @Test
    void anAnswerThatIsLateAndInPiecesIsReadOverTls() throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        List<Certificate> chain = Pem.certificates("n1.crt", text("certs/n1.crt"));
        store.setKeyEntry("n1", Pem.key("n1.key", text("certs/n1.key"), chain.get(0).getPublicKey()), new char[] {'x'},
            chain.toArray(new Certificate[0]));
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, new char[] {'x'});
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        ServerSocket server = context.getServerSocketFactory().createServerSocket(0, 64,
            InetAddress.getLoopbackAddress());
        byte[] answer = FakeNode.ok(FakeNode.meta("").text(3, "leader"));
        try (FakeNode node = new FakeNode(server, (n, head, out) -> {
            for (int i = 0; i < answer.length; i += 40) {
                Thread.sleep(i == 0 ? 700 : 50); // longer than a node may be quiet before it is asked
                out.write(answer, i, Math.min(40, answer.length - i));
                out.flush();
            }
        }); TidemarkClient client = TidemarkClient.open(ClientOptions.seeds(node.address()).tls(ca()).build())) {
            assertEquals("leader", client.status(soon()).state());
            assertEquals("leader", client.status(soon()).state(), "on the same connection");
            assertEquals(2, node.requests.get());
        }
    }

    @Test
    void aHandshakeThatHangsEndsWithTheDeadline() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 64, InetAddress.getLoopbackAddress())) {
            TidemarkException e = fails(ClientOptions.seeds("127.0.0.1:" + silent.getLocalPort()).tls(ca()));
            assertEquals(Code.UNREACHABLE, e.code(), e.getMessage());
        }
    }

    @Test
    void filesThatAreNotWhatTheyShouldBeAreNamed() throws Exception {
        write("empty", "");
        write("junk.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        invalid("empty", seeds().tls(new TlsFiles(file("empty"), "", "")));
        invalid("junk.pem", seeds().tls(new TlsFiles(file("junk.pem"), "", "")));
        invalid("absent", seeds().tls(new TlsFiles(file("absent"), "", "")));
        invalid("needs its key", seeds().tls(new TlsFiles("", file("certs/app.crt"), "")));
        invalid("app.crt", seeds().tls(new TlsFiles("", file("certs/app.crt"), file("certs/app.crt"))));
        invalid("holds no token", seeds().tls(ca()).tokenFile(file("empty")));
        invalid("give one of them", seeds().tls(ca()).tokenFile(file("ops.token")).token("x"));
        invalid("no token has", seeds().tls(ca()).token("x\r\nHost: y"));
        invalid("not sent without TLS", ClientOptions.seeds("h:1").token("x"));
        invalid("begin with https://", ClientOptions.seeds("https://h:1", "h:1"));
        invalid("begin with http://", ClientOptions.seeds("http://h:1").tls(ca()));
        invalid("not HOST:PORT", ClientOptions.seeds("h"));
        invalid("maxCalls", ClientOptions.seeds("h:1").maxCalls(0));
        invalid("give 1 to", ClientOptions.seeds());
    }

    private static void invalid(String words, ClientOptions.Builder options) {
        TidemarkException e = assertThrows(TidemarkException.class, () -> TidemarkClient.open(options.build()), words);
        assertEquals(Code.INVALID, e.code());
        assertTrue(e.getMessage().contains(words), e.getMessage());
    }
}
