package io.github.tidemarkmq.broker.processor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;
import org.apache.rocketmq.remoting.protocol.body.KVTable;
import org.junit.jupiter.api.Test;

/** What is changed in answers of the broker's. */
class BrokerAnswersTest {
    @Test
    void statusHasOurLinesToo() {
        KVTable table = new KVTable();
        table.getTable().put("brokerVersionDesc", "V5_5_0");
        byte[] body = BrokerStatus.with(table.encode(), Collections.singletonMap("tidemarkKeys", "7"));
        KVTable got = RemotingSerializable.decode(body, KVTable.class);
        assertEquals("V5_5_0", got.getTable().get("brokerVersionDesc"));
        assertEquals("7", got.getTable().get("tidemarkKeys"));
    }

    @Test
    void theTokenIsMasked() throws Exception {
        String config = "brokerName=a\ntidemarkToken=secret\ntidemarkTokenFile=/f\nx=tidemarkToken=kept\n";
        RemotingCommand got = process(BrokerConfigRequests.GET, null, config);
        assertEquals("brokerName=a\ntidemarkToken=***\ntidemarkTokenFile=/f\nx=tidemarkToken=kept\n",
            new String(got.getBody(), StandardCharsets.UTF_8));
    }

    @Test
    void ourSettingsCantBeChangedAtRunTime() throws Exception {
        String both = "flushDiskType=SYNC_FLUSH\ntidemarkToken=new\n";
        RemotingCommand got = process(BrokerConfigRequests.UPDATE, both, "done");
        assertEquals(1, got.getCode());
        assertTrue(got.getRemark().contains("restart"), got.getRemark());
        got = process(BrokerConfigRequests.UPDATE, "flushDiskType=SYNC_FLUSH\n", "done");
        assertEquals(0, got.getCode());
    }

    private static RemotingCommand process(int code, String body, String brokersBody) throws Exception {
        RemotingCommand request = RemotingCommand.createRequestCommand(code, null);
        request.setBody(body == null ? null : body.getBytes(StandardCharsets.UTF_8));
        return new BrokerConfigRequests(new NettyRequestProcessor() {
            @Override
            public RemotingCommand processRequest(ChannelHandlerContext ctx, RemotingCommand r) {
                RemotingCommand response = RemotingCommand.createResponseCommand(0, null);
                response.setBody(brokersBody.getBytes(StandardCharsets.UTF_8));
                return response;
            }

            @Override
            public boolean rejectRequest() {
                return false;
            }
        }).processRequest(null, request);
    }
}
