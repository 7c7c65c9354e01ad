package io.github.tidemarkmq.consumer;

import io.netty.channel.ChannelHandlerContext;
import java.util.Collections;
import java.util.HashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.remoting.netty.NettyRemotingServer;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RequestCode;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.apache.rocketmq.remoting.protocol.route.BrokerData;
import org.apache.rocketmq.remoting.protocol.route.TopicRouteData;

/** A name server and its one broker, which answers queries of offsets as a test says, over RocketMQ's own remoting. */
final class StubBroker implements NettyRequestProcessor, AutoCloseable {
    private final NettyRemotingServer server;
    private final ExecutorService threads = Executors.newSingleThreadExecutor();
    private final String name;
    /** What a query of an offset is answered; null: nothing at all. */
    private final AtomicReference<RemotingCommand> answer = new AtomicReference<>();
    private final AtomicReference<RemotingCommand> query = new AtomicReference<>();
    private MQClientInstance client;

    StubBroker(String name) {
        this.name = name;
        NettyServerConfig config = new NettyServerConfig();
        config.setBindAddress("127.0.0.1");
        config.setListenPort(0);
        server = new NettyRemotingServer(config);
        server.registerDefaultProcessor(this, threads);
        server.start();
    }

    private String address() {
        return "127.0.0.1:" + server.localListenPort();
    }

    /** A client that knows this name server and nothing else. */
    MQClientInstance client() {
        ClientConfig config = new ClientConfig();
        config.setNamesrvAddr(address());
        client = new MQClientInstance(config, 0, "stub");
        client.getMQClientAPIImpl().start();
        return client;
    }

    void answers(int code, String remark) {
        answer.set(RemotingCommand.createResponseCommand(code, remark));
    }

    void answersOffset(long offset) {
        RemotingCommand ok = RemotingCommand.createResponseCommand(ResponseCode.SUCCESS, null);
        ok.addExtField("offset", Long.toString(offset));
        answer.set(ok);
    }

    void isSilent() {
        answer.set(null);
    }

    /** The last query of an offset that came. */
    RemotingCommand query() {
        return query.get();
    }

    @Override
    public RemotingCommand processRequest(ChannelHandlerContext ctx, RemotingCommand request) {
        if (request.getCode() == RequestCode.QUERY_CONSUMER_OFFSET) {
            query.set(request);
            return answer.get();
        }
        RemotingCommand route = RemotingCommand.createResponseCommand(ResponseCode.SUCCESS, null);
        route.setBody(route().encode());
        return route;
    }

    private TopicRouteData route() {
        TopicRouteData data = new TopicRouteData();
        HashMap<Long, String> addresses = new HashMap<>(Collections.singletonMap(0L, address()));
        data.setBrokerDatas(Collections.singletonList(new BrokerData("c", name, addresses)));
        data.setQueueDatas(Collections.emptyList());
        return data;
    }

    @Override
    public boolean rejectRequest() {
        return false;
    }

    @Override
    public void close() {
        if (client != null) {
            client.getMQClientAPIImpl().shutdown();
        }
        server.shutdown();
        threads.shutdownNow();
    }
}
