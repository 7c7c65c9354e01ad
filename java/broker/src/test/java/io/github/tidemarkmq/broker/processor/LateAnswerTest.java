package io.github.tidemarkmq.broker.processor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import io.github.tidemarkmq.broker.version.Release;
import io.netty.channel.embedded.EmbeddedChannel;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.junit.jupiter.api.Test;

class LateAnswerTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final RemotingCommand request = RemotingCommand.createRequestCommand(15, null);
    private final LateAnswer answer;

    LateAnswerTest() throws Exception {
        answer = new LateAnswer(Release.running(), channel, request);
    }

    private RemotingCommand sent() {
        channel.runPendingTasks();
        return channel.readOutbound();
    }

    private static RemotingCommand ok() {
        return RemotingCommand.createResponseCommand(0, null);
    }

    @Test
    void isSentWhenBothAreThere() {
        answer.brokersAnswer(ok());
        assertNull(sent());
        answer.decided(Decision.DURABLE);
        RemotingCommand got = sent();
        assertEquals(0, got.getCode());
        assertEquals(request.getOpaque(), got.getOpaque());
        assertTrue(got.isResponseType());
        answer.decided(Decision.NOT_YET);
        assertNull(sent(), "only one answer");
    }

    @Test
    void theOtherWayRound() {
        answer.decided(Decision.NOT_YET);
        assertNull(sent());
        answer.brokersAnswer(ok());
        RemotingCommand got = sent();
        assertEquals(2, got.getCode());
        assertTrue(got.getRemark().startsWith("not yet durable"), got.getRemark());
    }

    @Test
    void eachDecisionHasItsAnswer() {
        assertEquals(0, Answers.toCommit(Decision.RESET, ok()).getCode());
        assertEquals("Offset has been previously reset", Answers.toCommit(Decision.RESET, ok()).getRemark());
        assertEquals(2, Answers.toCommit(Decision.CLOSED, ok()).getCode());
        assertEquals(1, Answers.toCommit(Decision.LOWER_AT_SLAVE, ok()).getCode());
        assertEquals(2, Answers.toCommit(Decision.AHEAD_OF_LOG, ok()).getCode());
        assertEquals("not taken: this slave's log does not hold it yet",
            Answers.toCommit(Decision.AHEAD_OF_LOG, ok()).getRemark());
        assertEquals(29, Answers.toCommit(Decision.INVALID, ok()).getCode());
    }
}
