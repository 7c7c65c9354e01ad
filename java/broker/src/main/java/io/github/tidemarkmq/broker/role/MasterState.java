package io.github.tidemarkmq.broker.role;

import io.github.tidemarkmq.broker.progress.Role;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.remoting.RemotingClient;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** What a broker says of itself (GET_BROKER_RUNTIME_INFO, as mqadmin brokerStatus asks), as far as its slaves ask. */
final class MasterState {
    /** The lines of a broker's state in addition to {@link StoreIdentity#LINE}. */
    private static final String ROLE = "tidemarkRole";
    private static final String READ = "tidemarkClusterRead";
    private static final String CLUSTER = "tidemarkCluster";
    private static final int GET_BROKER_RUNTIME_INFO = 28;
    private static final long MILLIS = 3_000;

    /** The id of its store; empty if it has none to tell: it runs without us, or has not claimed yet. */
    final String store;
    /** The cluster that it has read as the master, what its file had included; empty if it has not, or is none. */
    final String readCluster;

    MasterState(String store, String readCluster) {
        this.store = store;
        this.readCluster = readCluster;
    }

    /**
     * Asks a broker. Blocks for 3 s at most.
     *
     * @throws Exception it was not reached
     */
    static MasterState ask(RemotingClient client, String address) throws Exception {
        RemotingCommand request = RemotingCommand.createRequestCommand(GET_BROKER_RUNTIME_INFO, null);
        byte[] body = client.invokeSync(address, request, MILLIS).getBody();
        return in(body == null ? "" : new String(body, StandardCharsets.UTF_8));
    }

    static MasterState in(String json) {
        boolean read = line(json, ROLE, "[A-Z]+").equals(Role.MASTER.name()) && line(json, READ, "[a-z]+").equals("true");
        return new MasterState(line(json, StoreIdentity.LINE, "[0-9a-f]{32}"),
            read ? line(json, CLUSTER, "[0-9a-f]{32}") : "");
    }

    private static String line(String json, String name, String value) {
        Matcher m = Pattern.compile("\"" + name + "\"\\s*:\\s*\"(" + value + ")\"").matcher(json);
        return m.find() ? m.group(1) : "";
    }
}
