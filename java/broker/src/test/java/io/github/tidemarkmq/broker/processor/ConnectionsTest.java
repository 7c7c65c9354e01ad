package io.github.tidemarkmq.broker.processor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConnectionsTest {
    private final List<String> closed = new ArrayList<>();
    private final Connections connections = new Connections(closed::add);
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
}
