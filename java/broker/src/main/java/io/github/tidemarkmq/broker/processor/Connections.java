package io.github.tidemarkmq.broker.processor;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.util.function.Consumer;
import org.apache.rocketmq.remoting.common.RemotingHelper;

/** Tells when a connection is closed that has asked for offsets or committed any. Any thread. */
public final class Connections {
    private static final AttributeKey<Boolean> WATCHED = AttributeKey.valueOf("tidemark.watched");

    private final Consumer<String> closed;

    /** @param closed gets the address as the broker has it in commits; called on a thread of netty, must not block */
    public Connections(Consumer<String> closed) {
        this.closed = closed;
    }

    void watch(Channel channel) {
        if (channel.attr(WATCHED).get() == null && channel.attr(WATCHED).setIfAbsent(true) == null) {
            String client = RemotingHelper.parseChannelRemoteAddr(channel);
            channel.closeFuture().addListener(f -> closed.accept(client));
        }
    }

    /** Something was noted of the connection: if it has closed meanwhile, that is told once more. */
    void noted(Channel channel) {
        if (!channel.isActive()) {
            closed.accept(RemotingHelper.parseChannelRemoteAddr(channel));
        }
    }
}
