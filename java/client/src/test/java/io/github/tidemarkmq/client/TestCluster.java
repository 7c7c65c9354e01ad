package io.github.tidemarkmq.client;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * A cluster of real nodes on loopback: processes of the daemon that the system property {@code tidemarkd} names
 * ({@code make build} puts it into bin/), in a folder of their own. Closing it kills them.
 */
public final class TestCluster implements AutoCloseable {
    private static final int ATTEMPTS = 3;

    private final Path folder;
    private final List<Node> nodes = new ArrayList<>();
    private final UnaryOperator<ClientOptions.Builder> speaking;
    private final List<String> flags;

    private TestCluster(int size, UnaryOperator<ClientOptions.Builder> speaking, String... flags) throws IOException {
        this.folder = Files.createTempDirectory("tidemark-java");
        this.speaking = speaking;
        this.flags = Arrays.asList(flags);
        List<Integer> ports = freePorts(2 * size);
        StringBuilder founders = new StringBuilder();
        for (int i = 0; i < size; i++) {
            Node n = new Node("n" + (i + 1), ports.get(2 * i), ports.get(2 * i + 1));
            nodes.add(n);
            founders.append(i == 0 ? "" : ",").append(n.name).append("=127.0.0.1:").append(n.peer);
        }
        for (Node n : nodes) {
            n.founders = founders.toString();
        }
    }

    /** Starts a cluster and waits until it answers. */
    public static TestCluster start(int size) throws Exception {
        return start(size, options -> options);
    }

    /** Starts a cluster with these flags, whose clients need these options. */
    public static TestCluster start(int size, UnaryOperator<ClientOptions.Builder> speaking, String... flags)
        throws Exception {
        for (int attempt = 1;; attempt++) {
            TestCluster c = new TestCluster(size, speaking, flags);
            try {
                for (Node n : c.nodes) {
                    n.start();
                }
                c.await();
                return c;
            } catch (IOException | TidemarkException e) {
                String logs = c.logs();
                c.close();
                if (attempt == ATTEMPTS) { // somebody else may have taken a port
                    throw new IOException("no cluster: " + logs, e);
                }
            }
        }
    }

    /** Waits until there is a leader, and each member's address is known to all. */
    private void await() throws Exception {
        Deadline end = Deadline.after(30, TimeUnit.SECONDS);
        for (Node n : nodes) {
            try (TidemarkClient client = client(ClientOptions.seeds(n.address()))) {
                while (!complete(client, end)) {
                    Thread.sleep(5);
                }
            }
        }
    }

    private boolean complete(Cluster client, Deadline end) throws IOException, TidemarkException {
        for (Node n : nodes) {
            if (!n.process.isAlive()) {
                throw new IOException(n.name + " has ended");
            }
        }
        try {
            return complete(client.status(Deadline.after(1, TimeUnit.SECONDS)));
        } catch (TidemarkException e) {
            if (end.passed()) {
                throw e;
            }
            return false;
        }
    }

    private boolean complete(ClusterStatus s) {
        boolean known = s.members().stream().noneMatch(m -> m.apiAddress().isEmpty());
        return known && s.members().size() == nodes.size() && !s.meta().leader().isEmpty() && s.notReady().isEmpty();
    }

    /** A client of all nodes that speaks as the cluster does. */
    public TidemarkClient client() throws TidemarkException {
        return client(ClientOptions.seeds(addresses()));
    }

    private TidemarkClient client(ClientOptions.Builder options) throws TidemarkException {
        return TidemarkClient.open(speaking.apply(options).build());
    }

    /** Where its nodes listen. */
    public String[] addresses() {
        return nodes.stream().map(Node::address).toArray(String[]::new);
    }

    /** Its nodes, running or not. */
    public List<Node> nodes() {
        return nodes;
    }

    /** The node that leads, as a client sees it. */
    public Node leader(Cluster client) throws TidemarkException {
        String at = client.listKeys(KeyFilter.ALL, null, 1, ReadAt.LINEARIZABLE, Deadline.after(30, TimeUnit.SECONDS))
            .meta().leader();
        return nodes.stream().filter(n -> n.address().equals(at)).findFirst()
            .orElseThrow(() -> new AssertionError("an unknown leader: " + at));
    }

    /**
     * Ports below those that the system hands out, so that no connection takes one while its node is down; and between
     * those of the scripts and those that Go's tests hold for themselves (internal/ports).
     */
    private static List<Integer> freePorts(int n) throws IOException {
        List<ServerSocket> held = new ArrayList<>();
        List<Integer> ports = new ArrayList<>();
        for (int tries = 0; ports.size() < n; tries++) {
            int port = ThreadLocalRandom.current().nextInt(8_500, 12_000);
            try {
                held.add(new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
                ports.add(port);
            } catch (IOException e) {
                if (tries > 1000) {
                    throw e;
                }
            }
        }
        for (ServerSocket s : held) {
            s.close();
        }
        return ports;
    }

    private String logs() throws IOException {
        StringBuilder b = new StringBuilder();
        for (Node n : nodes) {
            Path log = folder.resolve(n.name + ".log");
            if (Files.exists(log)) {
                String text = new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
                b.append(n.name).append(":\n").append(text, Math.max(0, text.length() - 2000), text.length());
            }
        }
        return b.toString();
    }

    @Override
    public void close() throws IOException {
        for (Node n : nodes) {
            n.kill();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
    }

    /** One node, running or not. */
    public final class Node {
        private final String name;
        private final int api;
        private final int peer;
        private String founders;
        private Process process;

        private Node(String name, int api, int peer) {
            this.name = name;
            this.api = api;
            this.peer = peer;
        }

        /** Where it listens. */
        public String address() {
            return "127.0.0.1:" + api;
        }

        /** Starts it, the first time or again. */
        public void start() throws IOException {
            String program = System.getProperty("tidemarkd", "../../bin/tidemarkd");
            if (!new File(program).canExecute()) {
                throw new IllegalStateException(program + " is missing; build it: make build");
            }
            List<String> command = new ArrayList<>(Arrays.asList("sh", "-c", "echo $$ >\"$0.pid\"; exec \"$@\"",
                folder.resolve(name).toString(), program, "--name", name, "--data", folder.resolve(name).toString(),
                "--listen", address(), "--peer-listen", "127.0.0.1:" + peer, "--initial-cluster", founders));
            command.addAll(flags);
            process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve(name + ".log").toFile())).start();
        }

        /** kill -9. */
        public void kill() {
            if (process != null) {
                process.destroyForcibly();
                try {
                    process.waitFor(10, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        /** Makes it silent: its connections stay, and nothing is answered. */
        public void pause() throws Exception {
            signal("STOP");
        }

        /** Ends a pause. */
        public void resume() throws Exception {
            signal("CONT");
        }

        private void signal(String name) throws Exception {
            Path file = folder.resolve(this.name + ".pid");
            String pid = new String(Files.readAllBytes(file), StandardCharsets.UTF_8).trim();
            int rc = new ProcessBuilder("kill", "-" + name, pid).inheritIO().start().waitFor();
            if (rc != 0) {
                throw new IOException("kill -" + name + " " + pid + " gave " + rc);
            }
        }
    }
}
