package io.github.tidemarkmq.broker.role;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.remoting.RemotingClient;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** Asks a master for the id of its store: a line of its state (GET_BROKER_RUNTIME_INFO), as mqadmin brokerStatus does. */
final class MasterStore {
    private static final int GET_BROKER_RUNTIME_INFO = 28;
    private static final long MILLIS = 3_000;
    private static final Pattern VALUE = Pattern.compile("\"" + StoreIdentity.LINE + "\"\\s*:\\s*\"([0-9a-f]{32})\"");

    private MasterStore() {
    }

    /**
     * The id; empty if the master has none to tell: it runs without us, or has not claimed yet. Blocks for 3 s at most.
     *
     * @throws Exception it was not reached
     */
    static String ask(RemotingClient client, String address) throws Exception {
        RemotingCommand request = RemotingCommand.createRequestCommand(GET_BROKER_RUNTIME_INFO, null);
        byte[] body = client.invokeSync(address, request, MILLIS).getBody();
        return body == null ? "" : in(new String(body, StandardCharsets.UTF_8));
    }

    static String in(String json) {
        Matcher m = VALUE.matcher(json);
        return m.find() ? m.group(1) : "";
    }
}
