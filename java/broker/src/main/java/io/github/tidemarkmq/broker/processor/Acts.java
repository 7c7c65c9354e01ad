package io.github.tidemarkmq.broker.processor;

import io.github.tidemarkmq.broker.manager.Caller;
import io.github.tidemarkmq.broker.progress.ActFailed;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Progress;
import io.github.tidemarkmq.broker.version.Release;
import io.netty.channel.ChannelHandlerContext;
import java.util.Set;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * What operators do to offsets through a broker: done in the cluster first, and only then by the broker. If the cluster
 * does not do it within 2 s, the tool gets the error, and nothing has changed, except for what the error names:
 * where a command is several acts, those before stay done. A code is refused, as ever, by the broker's own processor.
 */
public final class Acts extends InFront {
    public static final int REMOVE_GROUP = 207;
    public static final int REMOVE_TOPIC = 215;
    public static final int RESET = 222;
    public static final int CLONE = 314;

    private final Release release;
    private final BrokerController controller;
    private final Progress progress;

    public Acts(NettyRequestProcessor brokers, Release release, BrokerController controller, Progress progress) {
        super(brokers);
        this.release = release;
        this.controller = controller;
        this.progress = progress;
    }

    @Override
    public RemotingCommand processRequest(ChannelHandlerContext ctx, RemotingCommand request) throws Exception {
        try {
            switch (request.getCode()) {
                case REMOVE_GROUP:
                    return removeGroup(ctx, request);
                case REMOVE_TOPIC:
                    return removeTopic(ctx, request);
                default:
                    return collected(ctx, request);
            }
        } catch (ActFailed e) {
            return Answers.error(e.getMessage());
        }
    }

    private RemotingCommand removeGroup(ChannelHandlerContext ctx, RemotingCommand request) throws Exception {
        String group = field(request, "groupName");
        boolean offsetsToo = Boolean.parseBoolean(field(request, release.removesOffsets()));
        if (group == null || group.isEmpty() || !offsetsToo || Key.ofBroker(group)) {
            return brokers.processRequest(ctx, request);
        }
        progress.removeGroup(group);
        return Caller.removed().in(() -> brokers.processRequest(ctx, request));
    }

    private RemotingCommand removeTopic(ChannelHandlerContext ctx, RemotingCommand request) throws Exception {
        Set<String> topics = release.offsetsRemovedWith(controller, field(request, "topic"));
        if (topics.isEmpty()) {
            return brokers.processRequest(ctx, request);
        }
        Steps steps = new Steps();
        for (String topic : topics) {
            steps.run(topic, () -> progress.removeTopic(topic));
        }
        return Caller.removed().in(() -> brokers.processRequest(ctx, request));
    }

    /** 222 and 314: the broker checks and says which offsets, and changes none, then the cluster does it. */
    private RemotingCommand collected(ChannelHandlerContext ctx, RemotingCommand request) throws Exception {
        Caller caller = Caller.collecting();
        RemotingCommand response = caller.in(() -> brokers.processRequest(ctx, request));
        if (!caller.resets().isEmpty()) {
            progress.assign(caller.resets());
        }
        Steps steps = new Steps();
        for (Caller.Copy c : caller.copies()) {
            steps.run(c.topic, () -> progress.cloneGroup(c.from, c.to, c.topic));
        }
        return response;
    }
}
