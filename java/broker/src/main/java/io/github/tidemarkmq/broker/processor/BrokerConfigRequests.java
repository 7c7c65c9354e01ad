package io.github.tidemarkmq.broker.processor;

import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Codes 25 and 26, {@code mqadmin updateBrokerConfig} and {@code getBrokerConfig}. The broker keeps all lines of
 * broker.conf, shows them to everybody, logs what changes, and writes them back: our token must stay in the file, and
 * out of all else.
 */
public final class BrokerConfigRequests extends InFront {
    public static final int UPDATE = 25;
    public static final int GET = 26;

    private static final Pattern TOKEN = Pattern.compile("(?m)^(tidemarkToken\\s*=).*$");
    private static final Pattern OURS = Pattern.compile("(?m)^\\s*tidemark\\w*\\s*[=:]");

    public BrokerConfigRequests(NettyRequestProcessor brokers) {
        super(brokers);
    }

    @Override
    public RemotingCommand processRequest(ChannelHandlerContext ctx, RemotingCommand request) throws Exception {
        if (request.getCode() == UPDATE && OURS.matcher(text(request.getBody())).find()) {
            return Answers.error("tidemark settings are read at the start: change them in broker.conf, and restart");
        }
        RemotingCommand response = brokers.processRequest(ctx, request);
        if (request.getCode() == GET && response != null && response.getBody() != null) {
            response.setBody(masked(text(response.getBody())).getBytes(StandardCharsets.UTF_8));
        }
        return response;
    }

    private static String text(byte[] body) {
        return body == null ? "" : new String(body, StandardCharsets.UTF_8);
    }

    static String masked(String config) {
        return TOKEN.matcher(config).replaceAll("$1***");
    }
}
