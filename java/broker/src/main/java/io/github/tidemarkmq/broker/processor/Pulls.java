package io.github.tidemarkmq.broker.processor;

import io.github.tidemarkmq.broker.manager.Caller;
import io.github.tidemarkmq.broker.manager.Guard;
import io.github.tidemarkmq.broker.progress.Key;
import io.netty.channel.ChannelHandlerContext;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.remoting.common.RemotingHelper;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Codes 11 and 361: says where the commit on the back of a pull comes from, and informs guard mode of consumers that
 * are beyond the end of their queue, which the broker corrects (21). Never waits for the cluster.
 */
public final class Pulls extends InFront {
    public static final int PULL = 11;
    public static final int LITE_PULL = 361;

    private final BrokerController controller;
    private final Connections connections;
    private final Guard guard;

    /** @param guard null unless guard mode is on */
    public Pulls(NettyRequestProcessor brokers, BrokerController controller, Connections connections, Guard guard) {
        super(brokers);
        this.controller = controller;
        this.connections = connections;
        this.guard = guard;
    }

    @Override
    public RemotingCommand processRequest(ChannelHandlerContext ctx, RemotingCommand request) throws Exception {
        connections.watch(ctx.channel());
        connections.consumes(ctx.channel());
        String client = RemotingHelper.parseChannelRemoteAddr(ctx.channel());
        if (guard != null) {
            tellGuard(request, client);
        }
        Caller caller = Caller.pull(client, number(request, "queueOffset", -1), Lanes.isWaiting(ctx.channel()));
        return caller.in(() -> brokers.processRequest(ctx, request));
    }

    private void tellGuard(RemotingCommand request, String client) throws Exception {
        String topic = field(request, "topic");
        String group = field(request, "consumerGroup");
        int queue = (int) number(request, "queueId", -1);
        long offset = number(request, "queueOffset", -1);
        if (topic != null && group != null && queue >= 0
            && offset > controller.getMessageStore().getMaxOffsetInQueue(topic, queue)) {
            guard.corrected(new Key(topic, group, queue), client);
        }
    }
}
