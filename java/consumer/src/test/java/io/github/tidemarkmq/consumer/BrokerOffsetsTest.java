package io.github.tidemarkmq.consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingTimeoutException;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.apache.rocketmq.remoting.protocol.header.QueryConsumerOffsetRequestHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What brokers answer, over RocketMQ's own client and server. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BrokerOffsetsTest {
    private static final MessageQueue MQ = new MessageQueue("orders", "b1", 3);

    private final StubBroker broker = new StubBroker("b1");
    private final MQClientInstance client = broker.client();

    @AfterEach
    void close() {
        broker.close();
    }

    private long ask(MessageQueue mq) throws TidemarkException {
        return BrokerOffsets.ask(client, "billing", mq, Deadline.after(60, TimeUnit.SECONDS));
    }

    private TidemarkException failed(MessageQueue mq) {
        TidemarkException e = assertThrows(TidemarkException.class, () -> ask(mq));
        assertEquals(Code.UNREACHABLE, e.code());
        return e;
    }

    @Test
    void anOffsetIsAskedForAsRocketMQsClientDoes() throws Exception {
        broker.answersOffset(42);
        assertEquals(42, ask(MQ));
        QueryConsumerOffsetRequestHeader header =
            broker.query().decodeCommandCustomHeader(QueryConsumerOffsetRequestHeader.class);
        assertEquals("billing", header.getConsumerGroup());
        assertEquals("orders", header.getTopic());
        assertEquals(3, header.getQueueId());
        assertEquals("b1", header.getBrokerName());
        Map<String, String> fields = broker.query().getExtFields();
        assertEquals(4, fields.size(), fields.toString());
    }

    @Test
    void onlyNotFoundSaysThatThereIsNoOffset() throws TidemarkException {
        broker.answers(ResponseCode.QUERY_NOT_FOUND, "maybe this group boot first");
        assertEquals(QueueProgress.NONE, ask(MQ));
        int[] errors = {ResponseCode.SYSTEM_ERROR, ResponseCode.SYSTEM_BUSY, ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
            ResponseCode.NO_PERMISSION, ResponseCode.TOPIC_NOT_EXIST, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST};
        for (int code : errors) {
            broker.answers(code, "made to fail");
            assertTrue(failed(MQ).getMessage().endsWith("it answered code " + code + ": made to fail"));
        }
        broker.answers(ResponseCode.SUCCESS, "without an offset");
        failed(MQ);
        broker.answersOffset(0);
        assertEquals(0, ask(MQ));
    }

    @Test
    void aBrokerThatNobodyKnowsIsAFailure() {
        String why = failed(new MessageQueue("orders", "unknown", 0)).getMessage();
        assertTrue(why.endsWith("no name server knows its address"), why);
    }

    @Test
    void aBrokerThatDoesNotAnswerIsGivenTheTimeOfTheRead() throws TidemarkException {
        broker.answersOffset(42);
        ask(MQ); // so that there is a connection
        broker.isSilent();
        TidemarkException e = assertThrows(TidemarkException.class, () ->
            BrokerOffsets.ask(client, "billing", MQ, Deadline.after(4, TimeUnit.SECONDS)));
        Throwable cause = assertInstanceOf(RemotingTimeoutException.class, e.getCause(), e.getMessage());
        Matcher waited = Pattern.compile("timeout, (\\d+)\\(ms\\)").matcher(cause.getMessage());
        assertTrue(waited.find(), cause.getMessage());
        assertTrue(Long.parseLong(waited.group(1)) <= 4000, cause.getMessage());
        TidemarkException late = assertThrows(TidemarkException.class, () ->
            BrokerOffsets.ask(client, "billing", MQ, Deadline.after(0, TimeUnit.SECONDS)));
        assertTrue(late.getMessage().endsWith("the time for the read is up"), late.getMessage());
    }
}
