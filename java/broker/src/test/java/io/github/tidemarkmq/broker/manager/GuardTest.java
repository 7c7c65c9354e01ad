package io.github.tidemarkmq.broker.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Commit;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Origin;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GuardTest {
    private static final Key KEY = new Key("T", "G", 0);
    private static final OptionalLong STORED = OptionalLong.of(10);

    private final List<String> said = new ArrayList<>();
    private final Set<String> registered = new HashSet<>();
    private final Guard guard = new Guard(this::host, new Log() {
        @Override
        public void info(String line) {
        }

        @Override
        public void warn(String line) {
            said.add(line);
        }

        @Override
        public void error(String line, Throwable cause) {
        }
    });

    /** Connections of a proxy, which count as one, or of consumers that have not registered themselves yet. */
    private String host(String client, String group) {
        return client.startsWith("proxy:") && !registered.contains(client) ? "proxy" : null;
    }

    private static Commit commit(Origin origin, long offset, String client) {
        return origin == Origin.TWO_WAY ? Commit.twoWay(KEY, offset, client, 0, d -> { })
            : Commit.of(KEY, offset, origin, client, 0);
    }

    @Test
    void onlyALowerOneThatNobodyAskedForIsRefused() {
        assertTrue(guard.refuses(commit(Origin.ONE_WAY, 9, "c:1"), STORED));
        assertTrue(guard.refuses(commit(Origin.PULL, 9, "c:1"), STORED));
        assertFalse(guard.refuses(commit(Origin.TWO_WAY, 9, "c:1"), STORED));
        assertFalse(guard.refuses(commit(Origin.POP, 9, "c:1"), STORED));
        assertFalse(guard.refuses(commit(Origin.ONE_WAY, 10, "c:1"), STORED));
        assertFalse(guard.refuses(commit(Origin.ONE_WAY, 11, "c:1"), STORED));
        assertFalse(guard.refuses(commit(Origin.ONE_WAY, 0, "c:1"), OptionalLong.empty()));
        assertEquals(2, guard.refused());
        assertEquals(2, said.size());
        assertTrue(said.get(0).contains("T@G queue 0 stays at 10; c:1 would have lowered it to 9"), said.get(0));
    }

    @Test
    void aCorrectedConsumerMayGoDownOnce() {
        guard.corrected(KEY, "c:1");
        assertTrue(guard.refuses(commit(Origin.ONE_WAY, 9, "c:2"), STORED), "another connection");
        assertFalse(guard.refuses(commit(Origin.ONE_WAY, 9, "c:1"), STORED));
        assertTrue(guard.refuses(commit(Origin.ONE_WAY, 8, "c:1"), OptionalLong.of(9)));
    }

    @Test
    void aCorrectedConsumerBehindAProxyCommitsOverAnyOfItsConnections() {
        guard.corrected(KEY, "proxy:1");
        assertFalse(guard.refuses(commit(Origin.ONE_WAY, 9, "proxy:2"), STORED));
        assertTrue(guard.refuses(commit(Origin.ONE_WAY, 8, "proxy:1"), OptionalLong.of(9)), "once");
    }

    @Test
    void aCorrectedConsumerThatRegistersItselfMayStillGoDownOnce() {
        guard.corrected(KEY, "proxy:1");
        registered.add("proxy:1");
        assertFalse(guard.refuses(commit(Origin.ONE_WAY, 9, "proxy:1"), STORED));
        assertTrue(guard.refuses(commit(Origin.ONE_WAY, 8, "proxy:1"), OptionalLong.of(9)));
        assertTrue(guard.refuses(commit(Origin.ONE_WAY, 8, "proxy:2"), OptionalLong.of(9)), "once, also of the host");
    }

    @Test
    void whatItRemembersIsBounded() {
        for (int i = 0; i <= Guard.MAX_CORRECTIONS; i++) {
            guard.corrected(KEY, "c:" + i);
        }
        assertTrue(guard.refuses(commit(Origin.ONE_WAY, 9, "c:0"), STORED), "the oldest is forgotten");
        assertFalse(guard.refuses(commit(Origin.ONE_WAY, 9, "c:1"), STORED));
    }
}
