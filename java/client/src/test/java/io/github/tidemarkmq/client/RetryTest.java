package io.github.tidemarkmq.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is sent again, where to, and what an answer means after that. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RetryTest {
    private static final OffsetKey KEY = new OffsetKey("g", "t", "b", 0);
    private static final List<Commit> COMMITS = Collections.singletonList(new Commit(KEY, 8, 3));

    private static Deadline soon() {
        return Deadline.after(20, TimeUnit.SECONDS);
    }

    private static KeyState at(long offset, long index, long epoch) {
        return new KeyState(KEY, true, new Position(offset, index, epoch, 0, false), epoch, 0);
    }

    private static ProtoWriter accepted(long offset) throws TidemarkException {
        ProtoWriter w = FakeNode.meta("");
        w.tag(2, ProtoWriter.VARINT); // not packed, as a reader must take it too
        w.varint(offset);
        return w;
    }

    private static ProtoWriter verdict(boolean applied, KeyState s) throws TidemarkException {
        return FakeNode.state(FakeNode.meta("").flag(2, applied), 3, s);
    }

    private static ProtoWriter act(Code code) throws TidemarkException {
        return FakeNode.meta("").number(2, code.number()).number(3, 9).flag(4, true);
    }

    /** Cuts the connection instead of the first answer: the send may have been done. */
    private static FakeNode.Script lost(byte[] then) {
        return (n, head, out) -> {
            if (n == 1) {
                throw new IOException("lost");
            }
            out.write(then);
        };
    }

    private static FakeNode.Script always(byte[] answer) {
        return (n, head, out) -> out.write(answer);
    }

    @Test
    void aCommitWhoseAnswerWasLostIsSentAgainOnce() throws Exception {
        try (FakeNode node = new FakeNode(lost(FakeNode.ok(accepted(8)))); TidemarkClient client = node.client()) {
            assertEquals(8, client.commit(FakeNode.CLUSTER, COMMITS, soon()).offset(0));
            assertEquals(2, node.requests.get());
        }
    }

    @Test
    void nothingIsSentAgainByTheTransportItself() throws Exception {
        // A connection that was used before, and is reset instead of an answer: java.net's own client would repeat the
        // POST by itself there (sun.net.http.retryPost).
        try (FakeNode node = new FakeNode((n, head, out) -> {
            if (n > 1) {
                throw new IOException("lost");
            }
            out.write(FakeNode.ok(accepted(8)));
        }); TidemarkClient client = node.client()) {
            client.commit(FakeNode.CLUSTER, COMMITS, soon());
            TidemarkException e = assertThrows(TidemarkException.class, () -> client.commit(FakeNode.CLUSTER, COMMITS,
                Deadline.after(1000, TimeUnit.MILLISECONDS)));
            assertEquals(Code.OUTCOME_UNKNOWN, e.code());
            int sends = node.requests.get() - 1;
            assertTrue(e.getMessage().contains("(" + sends + " attempts)")
                || e.getMessage().contains("(" + (sends + 1) + " attempts)"), sends + " came: " + e.getMessage());
        }
    }

    @Test
    void aRefusalIsNotSentAgain() throws Exception {
        for (Code code : new Code[] {Code.INVALID, Code.DENIED, Code.LIMIT, Code.LEVEL, Code.FOREIGN_CLUSTER}) {
            try (FakeNode node = new FakeNode(always(FakeNode.error(400, code, "no", "")));
                TidemarkClient client = node.client()) {
                TidemarkException e = assertThrows(TidemarkException.class,
                    () -> client.commit(FakeNode.CLUSTER, COMMITS, soon()));
                assertEquals(code, e.code());
                assertFalse(e.outcomeUnknown());
                assertEquals(1, node.requests.get());
            }
        }
    }

    @Test
    void aRefusalAfterALostAnswerLeavesTheOutcomeUnknown() throws Exception {
        try (FakeNode node = new FakeNode(lost(FakeNode.error(403, Code.DENIED, "no", "")));
            TidemarkClient client = node.client()) {
            TidemarkException e = assertThrows(TidemarkException.class,
                () -> client.commit(FakeNode.CLUSTER, COMMITS, soon()));
            assertEquals(Code.OUTCOME_UNKNOWN, e.code(), e.getMessage());
            assertEquals(2, node.requests.get());
        }
    }

    @Test
    void callsFollowTheLeader() throws Exception {
        try (FakeNode leader = new FakeNode(always(FakeNode.ok(accepted(8))));
            FakeNode other = new FakeNode(
                always(FakeNode.error(503, Code.NOT_LEADER, "", leader.address())));
            TidemarkClient client = other.client()) {
            client.commit(FakeNode.CLUSTER, COMMITS, soon());
            client.commit(FakeNode.CLUSTER, COMMITS, soon());
            assertEquals(1, other.requests.get(), "the second call knows the way");
            assertEquals(2, leader.requests.get());
        }
    }

    @Test
    void aBusyNodeIsAskedAgainAfterAPause() throws Exception {
        try (FakeNode node = new FakeNode((n, head, out) -> out.write(
            n < 3 ? FakeNode.error(429, Code.BUSY, "", "") : FakeNode.ok(accepted(8))));
            TidemarkClient client = node.client()) {
            assertTrue(client.commit(FakeNode.CLUSTER, COMMITS, soon()).accepted(0));
            assertEquals(3, node.requests.get());
        }
    }

    @Test
    void aNodeThatTakesItsTimeIsWaitedForIfItIsAlive() throws Exception {
        try (FakeNode node = new FakeNode((n, head, out) -> {
            Thread.sleep(1200);
            out.write(FakeNode.ok(accepted(8)));
        }); TidemarkClient client = node.client()) {
            assertTrue(client.commit(FakeNode.CLUSTER, COMMITS, soon()).accepted(0));
            assertEquals(1, node.requests.get(), "sent once, though it took longer than a dead node is given");
        }
    }

    @Test
    void aNodeThatGivesNoSignOfLifeIsLeft() throws Exception {
        try (FakeNode dead = new FakeNode((n, head, out) -> Thread.sleep(60_000));
            FakeNode node = new FakeNode(always(FakeNode.ok(accepted(8))));
            TidemarkClient client = TidemarkClient.open(
                ClientOptions.seeds(dead.address(), node.address()).attemptMillis(60_000).build())) {
            dead.alive = false;
            assertTrue(client.commit(FakeNode.CLUSTER, COMMITS, soon()).accepted(0));
        }
    }

    @Test
    void placesAreBoundedAndCloseEndsWhatWaits() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (FakeNode node = new FakeNode((n, head, out) -> Thread.sleep(60_000))) {
            TidemarkClient client = TidemarkClient.open(
                ClientOptions.seeds(node.address()).maxCalls(1).attemptMillis(60_000).build());
            Callable<Code> call = () -> assertThrows(TidemarkException.class,
                () -> client.commit(FakeNode.CLUSTER, COMMITS, Deadline.after(50, TimeUnit.SECONDS))).code();
            Future<Code> sent = threads.submit(call);
            while (node.requests.get() == 0) {
                Thread.sleep(1);
            }
            TidemarkException e = assertThrows(TidemarkException.class, () -> client.commit(FakeNode.CLUSTER, COMMITS,
                Deadline.after(100, TimeUnit.MILLISECONDS)));
            assertEquals(Code.BUSY, e.code(), e.getMessage());
            Future<Code> waiting = threads.submit(call);
            client.close();
            assertEquals(Code.OUTCOME_UNKNOWN, sent.get(20, TimeUnit.SECONDS));
            assertEquals(Code.CLOSED, waiting.get(20, TimeUnit.SECONDS));
            assertEquals(Code.CLOSED,
                assertThrows(TidemarkException.class, () -> client.status(soon())).code());
        } finally {
            threads.shutdownNow();
        }
    }

    private static final SetRequest SET = SetRequest.replacing(KEY, FakeNode.CLUSTER, 3, 8, 5);

    private static SetAnswer set(FakeNode.Script script) throws Exception {
        try (FakeNode node = new FakeNode(script); TidemarkClient client = node.client()) {
            return client.set(SET, soon());
        }
    }

    @Test
    void aSetThatIsFencedAfterALostAnswerIsJudgedByThePosition() throws Exception {
        byte[] done = FakeNode.ok(verdict(false, at(5, 12, 12)));
        assertEquals(5, set(lost(done)).state().position().offset(), "as good as done");
        SetRefusedException first = assertThrows(SetRefusedException.class, () -> set(always(done)));
        assertFalse(first.overtaken(), "of a first send it says that an act was missed");
        byte[] other = FakeNode.ok(verdict(false, at(6, 13, 12)));
        TidemarkException unknown = assertThrows(TidemarkException.class, () -> set(lost(other)));
        assertEquals(Code.OUTCOME_UNKNOWN, unknown.code());
        byte[] overtaken = FakeNode.ok(verdict(false, at(9, 13, 3)));
        assertTrue(assertThrows(SetRefusedException.class, () -> set(lost(overtaken))).overtaken(),
            "had any send been done, the epoch would have moved");
        byte[] claimed = FakeNode.ok(verdict(false, at(8, 2, 3)));
        assertFalse(assertThrows(SetRefusedException.class, () -> set(lost(claimed))).overtaken());
    }

    @Test
    void anActThatIsTooOldAfterALostAnswerIsUnknown() throws Exception {
        for (Code code : new Code[] {Code.TOO_OLD, Code.NO_IMPORT, Code.SUPERSEDED}) {
            Code resent = code == Code.SUPERSEDED ? code : Code.OUTCOME_UNKNOWN;
            assertEquals(resent, remove(lost(FakeNode.ok(act(code)))).code());
            assertEquals(code, remove(always(FakeNode.ok(act(code)))).code());
        }
    }

    private static ActRefusedException remove(FakeNode.Script script) throws Exception {
        ActHeader header = ActHeader.after(new Meta(FakeNode.CLUSTER, 4, 4, "", 0));
        try (FakeNode node = new FakeNode(script); TidemarkClient client = node.client()) {
            return assertThrows(ActRefusedException.class, () -> client.remove(header, Scope.group("g"), soon()));
        }
    }
}
