package io.github.tidemarkmq.broker.processor;

import io.github.tidemarkmq.broker.progress.Peers;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.rocketmq.remoting.common.RemotingHelper;

/**
 * The connections that have asked for offsets or committed any: whose they are, and when they are closed. A connection
 * in a consumer group of the broker is a consumer's own. Of the others, those over which pulls come, or commits that
 * nobody waits for, are a proxy's, and those of one host count as one ({@link Peers}); what comes over the rest is an
 * operator's. Any thread.
 */
public final class Connections implements Peers {
    private static final AttributeKey<Boolean> WATCHED = AttributeKey.valueOf("tidemark.watched");
    /** Of a connection over which consumers pull or commit. */
    private static final AttributeKey<Boolean> CONSUMES = AttributeKey.valueOf("tidemark.consumes");

    /** The consumer groups of the broker. */
    public interface Groups {
        /** Whether a consumer of the group has registered itself over this connection. */
        boolean have(String group, Channel channel);
    }

    private final Consumer<String> closed;
    private final Groups groups;
    /** The broker's port for clients that use the VIP channel; 0 or less for none. */
    private final int fastPort;
    /** The open ones, by their address as the broker has it in commits. */
    private final Map<String, Channel> open = new ConcurrentHashMap<>();
    /** How many of them a host has. */
    private final Map<String, Integer> hosts = new ConcurrentHashMap<>();

    /**
     * No connection yet.
     *
     * @param fastPort the port over which consumers commit that register themselves over the other one: connections to
     *     it stand for themselves
     * @param closed gets the address as the broker has it in commits, and the host after its last connection; called on
     *     a thread of netty, must not block
     */
    public Connections(Groups groups, int fastPort, Consumer<String> closed) {
        this.groups = groups;
        this.fastPort = fastPort;
        this.closed = closed;
    }

    void watch(Channel channel) {
        if (channel.attr(WATCHED).get() == null && channel.attr(WATCHED).setIfAbsent(true) == null) {
            String client = RemotingHelper.parseChannelRemoteAddr(channel);
            String host = hostOf(client);
            open.put(client, channel);
            hosts.merge(host, 1, Integer::sum);
            channel.closeFuture().addListener(f -> {
                open.remove(client, channel);
                hosts.computeIfPresent(host, (h, n) -> n == 1 ? null : n - 1);
                gone(client);
            });
        }
    }

    /** Something was noted of the connection: if it has closed meanwhile, that is reported once more. */
    void noted(Channel channel) {
        if (!channel.isActive()) {
            gone(RemotingHelper.parseChannelRemoteAddr(channel));
        }
    }

    private void gone(String client) {
        closed.accept(client);
        String host = hostOf(client);
        if (!host.equals(client) && !hosts.containsKey(host)) {
            closed.accept(host);
        }
    }

    /** A consumer pulls or commits over the connection, as no tool does. */
    void consumes(Channel channel) {
        if (channel.attr(CONSUMES).get() == null) {
            channel.attr(CONSUMES).set(true);
        }
    }

    /** Whether a two-way commit for the group over this connection is an operator's. */
    boolean isOperators(String group, Channel channel) {
        return channel.attr(CONSUMES).get() == null && !isMember(group, channel);
    }

    private boolean isMember(String group, Channel channel) {
        return group != null && groups.have(group, channel);
    }

    @Override
    public String host(String client, String group) {
        Channel channel = open.get(client);
        return channel == null || isMember(group, channel) || isFast(channel) ? null : hostOf(client);
    }

    private boolean isFast(Channel channel) {
        SocketAddress here = channel.localAddress();
        return here instanceof InetSocketAddress && ((InetSocketAddress) here).getPort() == fastPort;
    }

    private static String hostOf(String client) {
        int port = client.lastIndexOf(':');
        return port < 0 ? client : client.substring(0, port);
    }
}
