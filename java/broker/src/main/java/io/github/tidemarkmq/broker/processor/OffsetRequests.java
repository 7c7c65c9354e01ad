package io.github.tidemarkmq.broker.processor;

import io.github.tidemarkmq.broker.manager.Caller;
import io.github.tidemarkmq.broker.planted.Mistake;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Progress;
import io.github.tidemarkmq.broker.version.Release;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.rocketmq.remoting.common.RemotingHelper;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Codes 15 and 14, in front of the broker's ConsumerManageProcessor, which checks and answers. A 15 whose sender waits
 * is answered once its value is durable, or after 2 s; a 14 at a slave, or during a promotion, once the cluster has
 * been read, and not at all if it can't be and this broker knows no offset. Neither holds a thread. Run by
 * {@link Lanes}.
 */
public final class OffsetRequests extends InFront {
    public static final int QUERY = 14;
    public static final int UPDATE = 15;
    /** Another broker has passed the request on, a consumer's of a static topic: the connection is that broker's. */
    private static final String FORWARDED = "lo";

    private final Release release;
    private final Progress progress;
    private final Connections connections;
    private final Executor lanes;
    private final Log log;

    public OffsetRequests(NettyRequestProcessor brokers, Release release, Progress progress, Connections connections,
        Executor lanes, Log log) {
        super(brokers);
        this.release = release;
        this.progress = progress;
        this.connections = connections;
        this.lanes = lanes;
        this.log = log;
    }

    @Override
    public RemotingCommand processRequest(ChannelHandlerContext ctx, RemotingCommand request) throws Exception {
        connections.watch(ctx.channel());
        String client = RemotingHelper.parseChannelRemoteAddr(ctx.channel());
        if (request.getCode() == UPDATE && request.isOnewayRPC()) {
            connections.consumes(ctx.channel());
            return Caller.oneWay(client).in(() -> brokers.processRequest(ctx, request));
        }
        if (request.getCode() == UPDATE) {
            return update(ctx, request, client);
        }
        Key key = key(request);
        if (progress.asksCluster() && key != null && !Key.ofBroker(key.group())) {
            progress.read(key, client, (offset, certain) -> {
                if (certain || offset.isPresent()) {
                    later(ctx.channel(), () -> answer(ctx, request, client, certain));
                } // else nobody knows, and 22 would send its consumer to the end of the queue: the client asks again
            });
            return null;
        }
        return query(ctx, request, client);
    }

    private RemotingCommand update(ChannelHandlerContext ctx, RemotingCommand request, String client) throws Exception {
        LateAnswer answer = new LateAnswer(release, ctx.channel(), request);
        boolean operators = field(request, FORWARDED) == null
            && connections.isOperators(field(request, "consumerGroup"), ctx.channel());
        Caller caller = operators ? Caller.operator(client, answer) : Caller.twoWay(client, answer);
        RemotingCommand response = caller.in(() -> brokers.processRequest(ctx, request));
        if (!caller.handedOn() || Mistake.ANSWERED_EARLY) {
            return response; // refused by the broker's checks, or nothing to store
        }
        answer.brokersAnswer(response);
        return null;
    }

    private RemotingCommand query(ChannelHandlerContext ctx, RemotingCommand request, String client) throws Exception {
        Caller caller = Caller.oneWay(client);
        RemotingCommand response = caller.in(() -> brokers.processRequest(ctx, request));
        if (caller.asked() != null) {
            progress.opened(caller.asked(), client, caller.answer());
            connections.noted(ctx.channel());
        }
        return response;
    }

    /** The read has opened its key to the connection. */
    private void later(Channel channel, Runnable answer) {
        connections.noted(channel);
        try {
            lanes.execute(answer);
        } catch (RejectedExecutionException e) {
            log.warn("A query of an offset was not answered: too many wait. Its client asks again.");
        }
    }

    /** The broker asks the table again, which may have forgotten meanwhile what nobody could read. */
    private void answer(ChannelHandlerContext ctx, RemotingCommand request, String client, boolean certain) {
        Channel channel = ctx.channel();
        try {
            RemotingCommand response = Caller.oneWay(client).in(() -> brokers.processRequest(ctx, request));
            if (certain || response.getCode() != Answers.QUERY_NOT_FOUND) {
                release.send(channel, request, response);
            }
        } catch (Exception e) {
            log.error("Answering a query of an offset failed.", e);
            release.send(channel, request, Answers.error(e.toString()));
        }
    }

    /** The key a request names; null if it names none, which the broker's own processor then refuses. */
    private static Key key(RemotingCommand request) {
        String topic = field(request, "topic");
        String group = field(request, "consumerGroup");
        long queue = number(request, "queueId", -1);
        return topic == null || group == null || queue < 0 ? null : new Key(topic, group, (int) queue);
    }
}
