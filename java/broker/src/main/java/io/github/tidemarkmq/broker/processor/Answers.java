package io.github.tidemarkmq.broker.processor;

import io.github.tidemarkmq.broker.progress.Decided.Decision;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** The answers that are ours, in RocketMQ's codes (its ResponseCode). */
final class Answers {
    static final int SUCCESS = 0;
    static final int SYSTEM_ERROR = 1;
    static final int SYSTEM_BUSY = 2;
    static final int QUERY_NOT_FOUND = 22;
    static final int INVALID_PARAMETER = 29;

    private Answers() {
    }

    /**
     * The answer to a two-way 15.
     *
     * @param brokers the broker's own answer, which stands if the commit is durable
     */
    static RemotingCommand toCommit(Decision decision, RemotingCommand brokers) {
        switch (decision) {
            case DURABLE:
                return brokers;
            case RESET: // as ConsumerManageProcessor answers; mqadmin proceeds to the reset itself only after a 0
                brokers.setRemark("Offset has been previously reset");
                return brokers;
            case CLOSED:
                return with(brokers, SYSTEM_BUSY, "not taken: the offset was moved on purpose; read it, and go on");
            case LOWER_AT_SLAVE:
                return with(brokers, SYSTEM_ERROR, "not taken: a slave lowers no offset; ask the master");
            case AHEAD_OF_LOG:
                return with(brokers, SYSTEM_BUSY, "not taken: this slave's log does not hold it yet");
            case INVALID:
                return with(brokers, INVALID_PARAMETER, "not taken: the cluster cannot hold such a key or offset");
            default:
                return with(brokers, SYSTEM_BUSY,
                    "not yet durable: the cluster has not acknowledged it; it stays queued, and may be sent again");
        }
    }

    private static RemotingCommand with(RemotingCommand answer, int code, String remark) {
        answer.setCode(code);
        answer.setRemark(remark);
        return answer;
    }

    static RemotingCommand error(String remark) {
        return RemotingCommand.createResponseCommand(SYSTEM_ERROR, remark);
    }
}
