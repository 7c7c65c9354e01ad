package io.github.tidemarkmq.broker.reset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Commit;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Origin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each test is one life of a reset; the offsets: 500 before, back to 100 or forward to 900. */
class OpenResetsTest {
    private static final Key KEY = new Key("orders", "billing", 3);
    private static final String A = "10.0.0.1:4000";
    private static final String B = "10.0.0.2:4000";
    /** Two connections of a proxy. */
    private static final String P = "10.0.0.9:4000";
    private static final String Q = "10.0.0.9:4001";

    private final Table table = new Table();
    private final Carrier carrier = new Carrier();
    private long millis = 1_000;
    private final OpenResets resets = new OpenResets(carrier, this::host, new Quiet(), () -> millis);

    OpenResetsTest() {
        resets.start(table);
    }

    @AfterEach
    void close() {
        resets.close();
    }

    private String host(String client, String group) {
        return client.startsWith("10.0.0.9:") ? "10.0.0.9" : null;
    }

    /** As the manager does it. */
    private boolean passes(Commit commit) {
        return resets.admits(commit) && table.commit(commit);
    }

    private boolean commit(String client, long offset) {
        return passes(Commit.of(KEY, offset, Origin.ONE_WAY, client, 0));
    }

    private boolean tool(long offset) {
        return passes(Commit.operators(KEY, offset, B, 0, d -> { }));
    }

    private boolean onTheBack(String client, long offset) {
        return passes(Commit.of(KEY, offset, Origin.PULL, client, 0));
    }

    private boolean pop(String service, long offset) {
        return passes(Commit.of(KEY, offset, Origin.POP, service, 0));
    }

    private void assign(long to) {
        table.assigned = to;
        resets.assign(KEY, 500, to);
    }

    /** A pull of this client takes the reset, on this thread, without a commit on its back. */
    private void take(String client, long to) {
        assertEquals(to, resets.take(KEY, null));
        resets.pulled(KEY, client, 500, to);
    }

    private void after(long seconds) {
        millis += seconds * 1_000;
        resets.look();
    }

    @Test
    void withoutAResetEverythingPasses() {
        assertTrue(commit(A, 7));
        resets.pulled(KEY, A, 7, 9);
        assertNull(resets.take(KEY, null));
        assertFalse(resets.waits(KEY));
        assertEquals(Collections.singletonList(7L), table.taken);
    }

    @Test
    void consumersAreNudged() {
        assign(100);
        assertEquals(Collections.singletonList("orders@billing queue 3 100"), carrier.nudged);
    }

    @Test
    void oneTakesItAndFollowsByCommittingJustThat() {
        assign(100);
        assertTrue(resets.waits(KEY));
        take(A, 100);
        assertFalse(resets.waits(KEY), "the broker would answer the 15 that follows by itself");
        assertNull(resets.take(KEY, null), "another pull takes nothing");
        assertFalse(commit(A, 501));
        assertTrue(commit(A, 100));
        assertEquals(Collections.singletonList("100 by " + A), table.followed);
        assertEquals(Collections.singletonList(100L), table.taken);
    }

    @Test
    void whatIsOnTheBackOfThePullThatTookItIsDroppedWhateverItIs() {
        for (long back : new long[] {500, 100}) {
            assign(100);
            take(A, 100);
            assertFalse(onTheBack(A, back));
            assertEquals(Collections.emptyList(), table.followed);
        }
    }

    @Test
    void whoHasNotTakenItDoesNotFollow() {
        assign(100);
        take(A, 100);
        assertFalse(commit(B, 100));
        assertEquals(Collections.emptyList(), table.followed);
    }

    @Test
    void behindAProxyAnyOfItsConnectionsFollows() {
        assign(100);
        take(P, 100);
        assertFalse(commit(A, 100));
        assertFalse(onTheBack(Q, 500));
        assertTrue(commit(Q, 100));
        assertEquals(Collections.singletonList("100 by " + Q), table.followed);
    }

    @Test
    void aLitePullConsumerBehindAProxyFollowsByPullingThere() {
        assign(100);
        take(P, 100);
        resets.pulled(KEY, Q, 100, 132);
        assertEquals(Collections.singletonList("100 by " + Q), table.followed);
    }

    @Test
    void whatAnOperatorSaysIsNeitherOfBeforeNorASignOfFollowing() {
        carrier.carries = true;
        assign(100);
        assertFalse(tool(100), "the table takes nothing yet");
        assertEquals(Collections.emptyList(), table.followed);
        assertTrue(commit(A, 100));
        assertFalse(commit(A, 500));
        assertTrue(tool(500), "a moment after the reset was followed");
    }

    @Test
    void aValueOfBeforeThatComesLateIsDropped() {
        assign(100);
        take(A, 100);
        commit(A, 100);
        assertFalse(commit(A, 500), "the persist timer of the client read it before");
        assertFalse(commit(A, 99));
        assertFalse(commit(B, 500));
        after(15);
        assertTrue(commit(A, 500), "nothing of before comes after fifteen seconds");
    }

    @Test
    void whatWasConsumedSinceIsTaken() {
        assign(100);
        take(A, 100);
        commit(A, 100);
        resets.pulled(KEY, A, 100, 132);
        assertTrue(commit(A, 132));
        assertFalse(commit(A, 133), "nobody was given that message since");
        resets.pulled(KEY, A, 132, 500);
        assertFalse(commit(A, 500), "it was given, but 500 is what the client had before");
        assertTrue(commit(A, 499));
    }

    @Test
    void aPullFromElsewhereGivesNothing() {
        assign(100);
        take(A, 100);
        commit(A, 100);
        resets.pulled(KEY, B, 500, 532);
        assertFalse(commit(B, 532));
    }

    @Test
    void forwardTheValuesOfBeforeAreTheLowerOnes() {
        assign(900);
        take(A, 900);
        assertFalse(commit(A, 600));
        assertTrue(commit(A, 900));
        assertFalse(commit(A, 600));
        resets.pulled(KEY, A, 900, 910);
        assertTrue(commit(A, 910));
    }

    @Test
    void aLitePullConsumerFollowsByPullingThere() {
        assign(100);
        take(A, 100);
        resets.pulled(KEY, A, 100, 132);
        assertEquals(Collections.singletonList("100 by " + A), table.followed);
        assertFalse(commit(A, 500), "its memory still has where it was");
        assertTrue(commit(A, 110));
    }

    @Test
    void pullingWhereItWasIsNotFollowing() {
        assign(100);
        take(A, 100);
        resets.pulled(KEY, A, 500, 500);
        resets.pulled(KEY, B, 100, 132);
        assertEquals(Collections.emptyList(), table.followed);
    }

    @Test
    void aWokenPullSaysWhoseItIsByItsAnswer() {
        assign(100);
        assertEquals(100L, resets.take(KEY, null));
        resets.pulled(KEY, A, -1, 100);
        assertTrue(commit(A, 100));
        resets.pulled(KEY, A, -1, 120);
        assertTrue(commit(A, 120));
    }

    @Test
    void popFollowsByStartingAgain() {
        assign(100);
        assertEquals(100L, resets.take(KEY, null));
        assertTrue(pop("ResetPopOffset", 100));
        assertEquals(Collections.singletonList("100 by ResetPopOffset"), table.followed);
        assertFalse(pop("PopBufferMergeService", 540), "a checkpoint that a thread had in its hands");
        assertTrue(pop("PopBufferMergeService", 132));
        assertTrue(pop("PopBufferMergeService", 164));
    }

    @Test
    void popMayConsumeItAllInASecond() {
        assign(400);
        assertEquals(400L, resets.take(KEY, null));
        pop("ResetPopOffset", 400);
        for (long offset = 432; offset <= 528; offset += 32) {
            assertTrue(pop("PopBufferMergeService", offset), "offset " + offset);
        }
    }

    @Test
    void whatIsNotFollowedIsAssignedAgain() {
        assign(100);
        take(A, 100);
        after(14);
        assertEquals(Collections.emptyList(), table.again);
        after(1);
        assertEquals(Collections.singletonList(100L), table.again);
        resets.assign(KEY, -1, 100);
        take(B, 100);
        assertTrue(commit(B, 100));
        assertFalse(commit(B, 500), "what the first assignment knew of values from before");
    }

    @Test
    void aResetThatNobodyTakesWaits() {
        assign(100);
        after(3_600);
        assertTrue(resets.waits(KEY));
        assertEquals(Collections.emptyList(), table.again);
    }

    @Test
    void theNewestResetCounts() {
        assign(100);
        take(A, 100);
        assign(200);
        assertFalse(commit(A, 100), "it followed the one before");
        take(A, 200);
        assertTrue(commit(A, 200));
        assertEquals(Collections.singletonList("200 by " + A), table.followed);
    }

    @Test
    void aReleasedResetIsGone() {
        assign(100);
        resets.release(KEY);
        assertNull(resets.take(KEY, null));
        assertEquals(0, resets.size());
    }

    @Test
    void followedResetsAreForgotten() {
        assign(100);
        take(A, 100);
        commit(A, 100);
        assertEquals(1, resets.size());
        after(15);
        assertEquals(0, resets.size());
    }

    @Test
    void onABrokerWithoutServerSideResetsTheNudgeCarriesIt() {
        carrier.carries = true;
        assign(100);
        assertFalse(resets.waits(KEY), "the broker must hand on the 15 that follows");
        assertFalse(commit(A, 500));
        assertTrue(commit(A, 100));
        assertEquals(Collections.singletonList("100 by " + A), table.followed);
    }

    @Test
    void whatIsCarriedTravelsTogetherAndAgainForThoseWhoComeLater() {
        carrier.carries = true;
        assign(100);
        resets.assign(new Key("orders", "billing", 4), 500, 70);
        assertEquals(Collections.emptyList(), carrier.nudged);
        after(0);
        Collections.sort(carrier.nudged);
        assertEquals(Arrays.asList("orders@billing queue 3 100", "orders@billing queue 4 70"), carrier.nudged);
        assertTrue(commit(A, 100));
        after(29);
        assertEquals(2, carrier.nudged.size());
        after(1);
        assertEquals("orders@billing queue 4 70", carrier.nudged.get(2));
        assertEquals(3, carrier.nudged.size());
    }

    @Test
    void broadcastGroupsAreNeverPulled() {
        assertTrue(resets.neverPulls(new Key("orders", "billing@broadcast", 0)));
        assertFalse(resets.neverPulls(KEY));
    }

    /** As Progress: takes nothing of the key while a reset is assigned. */
    private static final class Table implements Offsets {
        final List<Long> taken = new ArrayList<>();
        final List<String> followed = new ArrayList<>();
        final List<Long> again = new ArrayList<>();
        long assigned = -1;

        boolean commit(Commit commit) {
            if (assigned >= 0) {
                return false;
            }
            taken.add(commit.offset());
            return true;
        }

        @Override
        public boolean followed(Key key, long offset, String client) {
            if (offset != assigned) {
                return false;
            }
            followed.add(offset + " by " + client);
            assigned = -1;
            return true;
        }

        @Override
        public boolean assignAgain(Key key, long offset) {
            again.add(offset);
            return assigned == offset;
        }
    }

    private static final class Carrier implements Nudge {
        final List<String> nudged = new ArrayList<>();
        boolean carries;

        @Override
        public void nudge(Map<Key, Long> resets) {
            resets.forEach((key, offset) -> nudged.add(key + " " + offset));
        }

        @Override
        public boolean carries() {
            return carries;
        }
    }

    private static final class Quiet implements Log {
        @Override
        public void info(String line) {
        }

        @Override
        public void warn(String line) {
        }

        @Override
        public void error(String line, Throwable cause) {
            throw new AssertionError(line, cause);
        }
    }
}
