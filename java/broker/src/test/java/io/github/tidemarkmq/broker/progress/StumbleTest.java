package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.TestCluster;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client that throws what nobody declared, once at each call: who sends and reads goes on. */
class StumbleTest {
    @TempDir
    Path folder;

    private final Key key = new Key("orders", "billing", 3);

    /** Nothing is thrown by the call, but by what is made of its answer. */
    @Test
    void whatATurnHadTakenIsGivenBackWhereItFails() throws Exception {
        Set<String> failed = ConcurrentHashMap.newKeySet();
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client()) {
            Class<?>[] types = {Cluster.class};
            Cluster fault = (Cluster) Proxy.newProxyInstance(getClass().getClassLoader(), types, (proxy, method, args) -> {
                String name = method.getName();
                try {
                    Object answer = method.invoke(cluster, args);
                    boolean once = name.equals("commit") || name.equals("set") || name.equals("fetch");
                    return once && failed.add(name) ? null : answer;
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
            try (Stand s = new Stand(fault, folder, "b", "C/1")) {
                s.options.twoWayMillis = 20_000;
                s.start(Role.MASTER);
                assertEquals(Decided.Decision.DURABLE, s.ask(key, 9, "c1"), "read and sent");
                assertEquals(Decided.Decision.DURABLE, s.ask(key, 4, "c1"), "lowered");
                assertEquals(OptionalLong.of(4), s.storedOffset(key));
                assertEquals(3, failed.size());
            }
        }
    }

    @Test
    void theThreadsOutliveWhatTheClientThrows() throws Exception {
        Set<String> thrown = ConcurrentHashMap.newKeySet();
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client()) {
            Class<?>[] types = {Cluster.class};
            Cluster fault = (Cluster) Proxy.newProxyInstance(getClass().getClassLoader(), types, (proxy, method, args) -> {
                String name = method.getName();
                if ((name.equals("commit") || name.equals("set") || name.equals("fetch")) && thrown.add(name)) {
                    if (name.equals("set")) {
                        throw new IllegalStateException("a fault of the client's " + name);
                    }
                    throw new NoClassDefFoundError("a fault of the machine's in " + name);
                }
                try {
                    return method.invoke(cluster, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
            try (Stand s = new Stand(fault, folder, "b", "C/1")) {
                s.options.twoWayMillis = 20_000;
                s.start(Role.MASTER);
                assertEquals(Decided.Decision.DURABLE, s.ask(key, 9, "c1"), "read and sent");
                assertEquals(Decided.Decision.DURABLE, s.ask(key, 4, "c1"), "lowered");
                assertEquals(OptionalLong.of(4), s.storedOffset(key));
                assertEquals(3, thrown.size());
                assertTrue(s.lines.stream().anyMatch(l -> l.startsWith("error: ")), s.lines.toString());
            }
        }
    }
}
