package io.github.tidemarkmq.broker.processor;

import io.netty.channel.ChannelHandlerContext;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;

/** Code 28, {@code mqadmin brokerStatus}: the broker's own lines, and ours. */
public final class BrokerStatus extends InFront {
    public static final int CODE = 28;

    private final Supplier<Map<String, String>> lines;

    public BrokerStatus(NettyRequestProcessor brokers, Supplier<Map<String, String>> lines) {
        super(brokers);
        this.lines = lines;
    }

    @Override
    public RemotingCommand processRequest(ChannelHandlerContext ctx, RemotingCommand request) throws Exception {
        RemotingCommand response = brokers.processRequest(ctx, request);
        if (response != null && response.getCode() == Answers.SUCCESS && response.getBody() != null) {
            response.setBody(with(response.getBody(), lines.get()));
        }
        return response;
    }

    /** @param body RocketMQ's KVTable: {"table":{...}}; its class has moved between versions */
    static byte[] with(byte[] body, Map<String, String> lines) {
        Map<?, ?> status = RemotingSerializable.decode(body, Map.class);
        @SuppressWarnings("unchecked")
        Map<String, Object> table = (Map<String, Object>) status.get("table");
        table.putAll(lines);
        return RemotingSerializable.encode(status);
    }
}
