package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.KeyPage;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.Position;
import io.github.tidemarkmq.client.TidemarkException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node whose listings do not get on, or whose reads stay behind: nobody waits for it for ever. */
class PagesTest {
    private static final Meta META = new Meta("00112233445566778899aabbccddeeff", 7, 0, "", 0);

    @TempDir
    Path folder;

    private static OffsetKey key(String group, int queue) {
        return new OffsetKey(group, "orders", "b", queue);
    }

    private static KeyPage page(boolean more, OffsetKey... keys) {
        List<KeyState> states = new ArrayList<>();
        for (OffsetKey k : keys) {
            states.add(new KeyState(k, true, new Position(5, 3, 3, 0, false), 3, 0));
        }
        return new KeyPage(META, states, more);
    }

    private static Code refusal(Pages pages, KeyPage page) {
        return assertThrows(TidemarkException.class, () -> pages.next(page)).code();
    }

    @Test
    void eachPageEndsBehindTheOneBefore() throws Exception {
        Pages pages = new Pages();
        assertNull(pages.after());
        assertTrue(pages.next(page(true, key("billing", 3))));
        assertTrue(pages.next(page(true, key("billing", 4))));
        assertTrue(pages.next(page(true, key("search", 0))));
        assertEquals(key("search", 0), pages.after());
        assertEquals(Code.DAMAGED, refusal(pages, page(true, key("search", 0))));
        assertEquals(Code.DAMAGED, refusal(pages, page(true, key("billing", 9))));
        assertEquals(Code.DAMAGED, refusal(pages, page(true)));
        assertFalse(pages.next(page(false)));
        assertEquals(Code.NOT_READY, refusal(new Pages(Deadline.after(0, TimeUnit.MILLISECONDS)),
            page(true, key("billing", 3))));
    }

    @Test
    void theOrderIsTheClusters() {
        assertTrue(OffsetKeys.byBytes(key("\uffff", 0), key("\ud83d\ude00", 0)) < 0, "by code points, not by chars");
        assertTrue(OffsetKeys.byBytes(key("a", 2), key("a", 10)) < 0);
    }

    private static Cluster answering(Object answer) {
        return (Cluster) Proxy.newProxyInstance(PagesTest.class.getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, method, args) -> answer);
    }

    @Test
    void aListingThatDoesNotGetOnEndsTheStart() throws Exception {
        try (Stand s = new Stand(answering(page(true, key("billing", 3))), folder, "b", "C/1")) {
            StartRefused e = assertTimeoutPreemptively(Duration.ofSeconds(20),
                () -> assertThrows(StartRefused.class, () -> s.start(Role.SLAVE)));
            assertTrue(e.getMessage().contains("DAMAGED"), e.getMessage());
        }
    }

    @Test
    void whatWasReadOfAKeyThatHasLeftTheTableIsTakenOver() throws Exception {
        Stand s = new Stand(null, folder, "b", "C/1");
        Board board = new Board(new View(Role.SLAVE, META.clusterId(), 0, 7), LogEnd.NONE, new Outbox(s, s), s);
        Table table = new Table(board.tally);
        Key key = new Key("orders", "billing", 3);
        KeyProgress left = table.with(key, k -> k);
        left.phase = KeyProgress.Phase.GONE;
        assertTrue(left.bury());
        table.remove(left);
        board.reads.put(left, null);
        board.reads.go();
        Reader reader = new Reader(answering(new FetchAnswer(META, page(false, key("billing", 3)).states())), "b", board,
            table, new Contact(board.tally, s), () -> { });
        Thread thread = new Thread(reader);
        thread.start();
        Stand.await("the one in its place has it", () -> table.get(key) != null && table.get(key).value == 5);
        board.reads.close();
        thread.join();
    }

    @Test
    void aReadThatStaysBehindEnds() {
        Stand s = new Stand(null, folder, "b", "C/1");
        Board board = new Board(new View(Role.SLAVE, META.clusterId(), 0, 8), LogEnd.NONE, new Outbox(s, s), s);
        Reader reader = new Reader(answering(new FetchAnswer(META, page(false, key("billing", 3)).states())), "b", board,
            new Table(board.tally), new Contact(board.tally, s), () -> { });
        TidemarkException e = assertTimeoutPreemptively(Duration.ofSeconds(20), () -> assertThrows(
            TidemarkException.class, () -> reader.fetch(Collections.singletonList(key("billing", 3)),
                Deadline.after(50, TimeUnit.MILLISECONDS))));
        assertEquals(Code.NOT_READY, e.code());
    }
}
