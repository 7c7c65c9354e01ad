package io.github.tidemarkmq.consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.consumer.QueueProgress.Step;
import org.junit.jupiter.api.Test;

/** The transitions of one queue, one by one. */
class QueueProgressTest {
    private static final String HOME = "c1";

    private static QueueProgress readAt(long offset) {
        QueueProgress p = new QueueProgress();
        p.take(offset, 7, HOME);
        return p;
    }

    private static void says(QueueProgress p, Step step, long value) {
        assertEquals(step, p.next());
        assertEquals(value, p.sendable());
    }

    @Test
    void whatWasReadHasNothingToSay() {
        assertEquals(Step.NOTHING, readAt(10).next());
        assertFalse(readAt(10).unsaid());
        assertEquals(Step.NOTHING, readAt(QueueProgress.NONE).next());
    }

    @Test
    void aHigherValueIsACommit() {
        QueueProgress p = readAt(10);
        p.update(15, true);
        says(p, Step.ADVANCE, 15);
        assertTrue(p.unsaid());
        p.advanced(15, 15);
        assertEquals(Step.NOTHING, p.next());
        assertFalse(p.unsaid());
    }

    @Test
    void increaseOnlyIgnoresALowerOne() {
        QueueProgress p = readAt(10);
        p.update(5, true);
        assertEquals(10, p.value());
        assertEquals(Step.NOTHING, p.next());
    }

    @Test
    void aLowerValueOnPurposeIsASet() {
        QueueProgress p = readAt(10);
        p.update(5, false);
        says(p, Step.SET, 5);
        p.moved(5, 20);
        assertEquals(20, p.epoch());
        assertEquals(Step.NOTHING, p.next());
        p.update(6, true);
        says(p, Step.ADVANCE, 6);
    }

    @Test
    void aLowerValueThatTheClusterDoesNotHaveYetIsACommit() {
        QueueProgress p = readAt(10);
        p.update(20, true);
        p.update(15, false);
        says(p, Step.ADVANCE, 15);
    }

    @Test
    void theFirstCommitOfAQueueWithoutOffsetMayBeZero() {
        QueueProgress p = readAt(QueueProgress.NONE);
        p.update(0, true);
        says(p, Step.ADVANCE, 0);
    }

    @Test
    void negativeOnesAreIgnored() {
        QueueProgress p = readAt(10);
        p.update(-1, false);
        p.freeze(-1);
        assertEquals(10, p.value());
    }

    @Test
    void anUnknownOutcomeIsSentAgain() {
        QueueProgress p = readAt(10);
        p.update(15, true);
        p.doubt(15);
        says(p, Step.ADVANCE, 15);
        assertTrue(p.unsaid());
        p.advanced(15, 15);
        assertFalse(p.unsaid());
    }

    @Test
    void aSetWaitsForADoubtedCommit() {
        QueueProgress p = readAt(10);
        p.update(15, true);
        p.doubt(15);
        p.update(5, false);
        says(p, Step.ADVANCE, 15);
        p.advanced(15, 15);
        says(p, Step.SET, 5);
        assertEquals(15, p.known());
    }

    @Test
    void aDoubtAboveWhatWasAcknowledgedStays() {
        QueueProgress p = readAt(10);
        p.doubt(20);
        p.update(15, true);
        p.advanced(15, 18);
        assertTrue(p.unsaid());
        says(p, Step.ADVANCE, 20);
    }

    @Test
    void aDoubtThatTheClusterHasIsNoneAnyMore() {
        QueueProgress p = readAt(10);
        p.doubt(20);
        p.update(15, true);
        p.advanced(15, 20);
        assertFalse(p.unsaid());
    }

    @Test
    void aDoubtAboveTheMemoryIsSentAgainUntilItIsDecided() {
        QueueProgress p = readAt(900);
        p.doubt(1000);
        says(p, Step.ADVANCE, 1000);
        assertEquals(1000, p.due());
        p.advanced(1000, 1000);
        says(p, Step.ADVANCE, 900); // which changes nothing
        p.advanced(900, 1000);
        assertEquals(Step.NOTHING, p.next());
        assertFalse(p.unsaid());
        assertEquals(900, p.value());
    }

    @Test
    void aDoubtWithoutAnyMemoryIsSentAgain() {
        QueueProgress p = readAt(QueueProgress.NONE);
        p.doubt(1000);
        assertTrue(p.unsaid());
        says(p, Step.ADVANCE, 1000);
        p.advanced(1000, 1000);
        assertEquals(Step.NOTHING, p.next());
        assertFalse(p.unsaid());
        assertEquals(QueueProgress.NONE, p.value());
    }

    @Test
    void aLoweringThatIsToBeSentIsUnsaid() {
        QueueProgress p = readAt(10);
        p.update(15, true);
        p.update(20, true);
        p.update(15, false);
        p.advanced(15, 40);
        assertTrue(p.unsaid());
        says(p, Step.SET, 15);
    }

    @Test
    void aDoubtThatTheMemoryWentBelowOnPurposeIsNotWhatIsDue() {
        QueueProgress p = readAt(10);
        p.doubt(20);
        p.update(15, true);
        p.update(5, false);
        says(p, Step.ADVANCE, 20);
        assertEquals(5, p.due());
    }

    @Test
    void whatWasNeverReadIsNotSent() {
        QueueProgress p = new QueueProgress();
        p.update(15, true);
        assertEquals(Step.NOTHING, p.next());
        assertTrue(p.unsaid());
        p.take(10, 7, HOME);
        assertEquals(10, p.value());
        assertFalse(p.unsaid());
    }

    @Test
    void aFrozenValueStaysAndIsSent() {
        QueueProgress p = readAt(10);
        p.freeze(5);
        p.update(99, false);
        says(p, Step.SET, 5);
        p.freeze(7);
        says(p, Step.SET, 7);
    }

    @Test
    void aFencedQueueSaysNothing() {
        QueueProgress p = readAt(10);
        p.fence(Fence.Cause.MISSED_ACT);
        p.update(15, true);
        p.freeze(20);
        assertEquals(Step.NOTHING, p.next());
        assertEquals(10, p.value());
        assertTrue(p.unsaid());
        assertFalse(p.live());
    }

    @Test
    void actsAreMissedByEpochAndByCluster() {
        QueueProgress p = readAt(10);
        assertFalse(p.missed(7, HOME));
        assertFalse(p.missed(6, HOME));
        assertTrue(p.missed(8, HOME));
        assertTrue(p.missed(1, "c2"));
    }

    @Test
    void anotherOwnersCommitIsWhatTheNextSetReplaces() {
        QueueProgress p = readAt(10);
        p.update(15, true);
        p.advanced(15, 40);
        assertEquals(40, p.known());
        p.update(5, false);
        says(p, Step.SET, 5);
    }
}
