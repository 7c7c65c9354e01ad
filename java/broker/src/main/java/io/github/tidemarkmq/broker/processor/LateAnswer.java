package io.github.tidemarkmq.broker.processor;

import io.github.tidemarkmq.broker.progress.Decided;
import io.github.tidemarkmq.broker.version.Release;
import io.netty.channel.Channel;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * The answer to a two-way 15, sent once there are two things, in either order: what the broker answers, and whether the
 * commit is durable. Nobody waits for it. Any thread.
 */
final class LateAnswer implements Decided {
    private final Release release;
    private final Channel channel;
    private final RemotingCommand request;
    /** Both guarded by this. */
    private RemotingCommand brokers;
    private Decision decision;

    LateAnswer(Release release, Channel channel, RemotingCommand request) {
        this.release = release;
        this.channel = channel;
        this.request = request;
    }

    @Override
    public void decided(Decision d) {
        synchronized (this) {
            if (decision != null) {
                return; // the first one says why
            }
            decision = d;
            if (brokers == null) {
                return;
            }
        }
        send();
    }

    /** The broker has answered; to be called once. */
    void brokersAnswer(RemotingCommand answer) {
        synchronized (this) {
            brokers = answer;
            if (decision == null) {
                return;
            }
        }
        send();
    }

    private void send() {
        release.send(channel, request, Answers.toCommit(decision, brokers));
    }
}
