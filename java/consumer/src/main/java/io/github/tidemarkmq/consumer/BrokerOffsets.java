package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.impl.FindBrokerResult;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.CommandCustomHeader;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Asks brokers for a group's offsets, over the consumer's own connections. RocketMQ's RemoteBrokerOffsetStore is no
 * help: in a client of 4.9 its readOffset takes every error that a broker answers, busy and starting among them, for
 * "no offset", and the consumer begins after messages that were never consumed; and it has a timeout of its own, 5 s.
 * Any thread.
 */
final class BrokerOffsets {
    /** RequestCode.QUERY_CONSUMER_OFFSET. That class, and the header's, have other packages in 5.x than in 4.9. */
    private static final int QUERY = 14;
    /** ResponseCode.SUCCESS. */
    private static final int SUCCESS = 0;
    /** ResponseCode.QUERY_NOT_FOUND, the only answer that says that there is no offset. */
    private static final int NOT_FOUND = 22;

    private BrokerOffsets() {
    }

    /**
     * The offset that a queue's broker has for a group, or {@link QueueProgress#NONE} if it has none. Blocks until the
     * deadline, and before that as long as the client needs for a name server, if it does not know the broker's
     * address, and for a connection, if it has none: 3 s each, unless it is configured otherwise.
     *
     * @throws TidemarkException {@link Code#UNREACHABLE}: it is not known; ask again later
     */
    static long ask(MQClientInstance client, String group, MessageQueue mq, Deadline deadline)
        throws TidemarkException {
        try {
            RemotingCommand query = RemotingCommand.createRequestCommand(QUERY, new Query(group, mq));
            String address = address(client, mq);
            long left = deadline.remaining(TimeUnit.MILLISECONDS);
            if (left <= 0) {
                throw unknown(mq, "the time for the read is up", null);
            }
            return offset(mq, client.getMQClientAPIImpl().getRemotingClient().invokeSync(address, query, left));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unknown(mq, "the thread was interrupted", e);
        } catch (RemotingException | RuntimeException e) {
            throw unknown(mq, e.toString(), e);
        }
    }

    private static String address(MQClientInstance client, MessageQueue mq) throws TidemarkException {
        FindBrokerResult found = client.findBrokerAddressInSubscribe(
            ClientVersion.brokerOf(client, mq), MixAll.MASTER_ID, true);
        if (found == null) {
            client.updateTopicRouteInfoFromNameServer(mq.getTopic());
            found = client.findBrokerAddressInSubscribe(ClientVersion.brokerOf(client, mq), MixAll.MASTER_ID, false);
        }
        if (found == null) {
            throw unknown(mq, "no name server knows its address", null);
        }
        ClientConfig config = client.getClientConfig();
        return MixAll.brokerVIPChannel(config.isVipChannelEnabled(), found.getBrokerAddr());
    }

    private static long offset(MessageQueue mq, RemotingCommand answer) throws TidemarkException {
        Map<String, String> fields = answer.getExtFields();
        if (answer.getCode() == SUCCESS && fields != null && fields.get("offset") != null) {
            return Math.max(QueueProgress.NONE, Long.parseLong(fields.get("offset")));
        }
        if (answer.getCode() == NOT_FOUND) {
            return QueueProgress.NONE;
        }
        throw unknown(mq, "it answered code " + answer.getCode() + ": " + answer.getRemark(), null);
    }

    private static TidemarkException unknown(MessageQueue mq, String why, Throwable cause) {
        return new TidemarkException(Code.UNREACHABLE, "the cluster has no offset of " + mq
            + ", and its broker could not be asked for one: " + why, cause);
    }

    /** The header of the request: its fields are what goes over the wire (RemotingCommand.makeCustomHeaderToNet). */
    private static final class Query implements CommandCustomHeader {
        private final String consumerGroup;
        private final String topic;
        private final Integer queueId;
        private final String bname;

        Query(String group, MessageQueue mq) {
            consumerGroup = group;
            topic = mq.getTopic();
            queueId = mq.getQueueId();
            bname = mq.getBrokerName();
        }

        @Override
        public void checkFields() {
            // Called by the reader of a header from the wire.
        }
    }
}
