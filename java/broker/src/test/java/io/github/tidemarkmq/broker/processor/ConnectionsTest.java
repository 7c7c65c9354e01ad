package io.github.tidemarkmq.broker.processor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ConnectionsTest {
    private final List<String> closed = new ArrayList<>();
    /** Over which consumers of the group have registered themselves. */
    private final Set<Channel> members = new HashSet<>();
    private final Connections connections =
        new Connections((group, c) -> group.equals("billing") && members.contains(c), 10909, closed::add);
    private final EmbeddedChannel channel = new EmbeddedChannel();

    @Test
    void whatIsNotedAfterTheEndIsToldAgain() {
        connections.watch(channel);
        connections.watch(channel);
        connections.noted(channel);
        assertEquals(0, closed.size());
        channel.close();
        assertEquals(1, closed.size());
        connections.noted(channel); // a query that was answered late
        assertEquals(2, closed.size());
        assertEquals(closed.get(0), closed.get(1));
    }

    private Channel from(String host, int port) {
        return from(host, port, 10911);
    }

    private Channel from(String host, int port, int to) {
        EmbeddedChannel c = new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return isActive() ? new InetSocketAddress(host, port) : null;
            }

            @Override
            protected SocketAddress localAddress0() {
                return isActive() ? new InetSocketAddress("10.0.0.9", to) : null;
            }
        };
        connections.watch(c);
        return c;
    }

    @Test
    void connectionsInNoGroupCountAsTheirHost() {
        Channel consumer = from("10.0.0.1", 4000);
        from("10.0.0.1", 4001);
        from("10.0.0.1", 4002);
        from("10.0.0.2", 4001);
        members.add(consumer);
        assertNull(connections.host("10.0.0.1:4000", "billing"));
        assertEquals("10.0.0.1", connections.host("10.0.0.1:4000", "audit"), "it is a consumer of another group");
        assertTrue(connections.same("10.0.0.1:4001", "10.0.0.1:4002", "billing"));
        assertFalse(connections.same("10.0.0.1:4001", "10.0.0.1:4000", "billing"));
        assertFalse(connections.same("10.0.0.1:4001", "10.0.0.2:4001", "billing"));
        assertTrue(connections.same("10.0.0.1:4000", "10.0.0.1:4000", "billing"));
        assertNull(connections.host("ResetPopOffset", "billing"));
    }

    @Test
    void connectionsToTheFastPortStandForThemselves() {
        from("10.0.0.1", 4001, 10909);
        from("10.0.0.1", 4002, 10909);
        assertNull(connections.host("10.0.0.1:4001", "billing"), "its consumer has registered itself over another one");
        assertFalse(connections.same("10.0.0.1:4001", "10.0.0.1:4002", "billing"));
    }

    @Test
    void aHostIsForgottenWithItsLastConnection() {
        Channel one = from("10.0.0.1", 4001);
        Channel two = from("10.0.0.1", 4002);
        one.close();
        assertEquals(Collections.singletonList("10.0.0.1:4001"), closed);
        assertNull(connections.host("10.0.0.1:4001", "billing"));
        two.close();
        assertEquals(Arrays.asList("10.0.0.1:4001", "10.0.0.1:4002", "10.0.0.1"), closed);
    }

    @Test
    void whatNobodyConsumesOverIsAnOperators() {
        Channel tool = from("10.0.0.1", 4001);
        Channel proxy = from("10.0.0.1", 4002);
        Channel consumer = from("10.0.0.1", 4003);
        members.add(consumer);
        connections.consumes(proxy);
        assertTrue(connections.isOperators("billing", tool));
        assertFalse(connections.isOperators("billing", proxy));
        assertFalse(connections.isOperators("billing", consumer));
        assertTrue(connections.isOperators(null, tool), "the broker refuses it by itself");
    }
}
