package io.github.tidemarkmq.broker.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.store.MappedFileQueue;
import org.apache.rocketmq.store.MessageStore;
import org.apache.rocketmq.store.config.BrokerRole;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.ha.HAClient;
import org.apache.rocketmq.store.ha.HAConnection;
import org.apache.rocketmq.store.ha.HAConnectionState;
import org.apache.rocketmq.store.ha.HAService;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAConnection;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAService;

/** The log of a broker 5.x. */
public final class LogOf5 implements LogView {
    private final MessageStore store;
    private final MessageStoreConfig config;

    /** A view of a store that is loaded. */
    public LogOf5(MessageStore store, MessageStoreConfig config) {
        this.store = store;
        this.config = config;
    }

    @Override
    public long written() {
        return files().getMaxWrotePosition();
    }

    @Override
    public long flushed() {
        return files().getFlushedWhere();
    }

    /** CommitLog.flush stops at the end of a file; several may have been filled since the last one. */
    @Override
    public void flush() {
        long end = written();
        long before;
        do {
            before = flushed();
            store.flush();
        } while (flushed() > before && flushed() < end);
    }

    @Override
    public List<Replica> replicas() {
        HAService ha = store.getHaService();
        if (ha == null || config.getBrokerRole() == BrokerRole.SLAVE) {
            return Collections.emptyList();
        }
        List<HAConnection> connections;
        synchronized (ha.getConnectionList()) { // DefaultHAService guards its list by itself
            connections = new ArrayList<>(ha.getConnectionList());
        }
        return ha instanceof AutoSwitchHAService ? group((AutoSwitchHAService) ha, connections) : plain(connections);
    }

    private static List<Replica> plain(List<HAConnection> connections) {
        List<Replica> replicas = new ArrayList<>(connections.size());
        for (HAConnection c : connections) {
            replicas.add(new Replica(c.getSlaveAckOffset(), false));
        }
        return replicas;
    }

    /**
     * Only members of the in-sync set are elected, so only they are waited for. One that has come back may have an
     * old connection alongside the new one.
     */
    private static List<Replica> group(AutoSwitchHAService ha, List<HAConnection> connections) {
        Map<Long, Long> acked = new HashMap<>();
        for (HAConnection c : connections) {
            acked.merge(((AutoSwitchHAConnection) c).getSlaveId(), c.getSlaveAckOffset(), Math::max);
        }
        List<Replica> replicas = new ArrayList<>();
        for (Long member : ha.getSyncStateSet()) {
            if (!member.equals(ha.getLocalBrokerId())) {
                replicas.add(new Replica(acked.getOrDefault(member, -1L), true));
            }
        }
        return replicas;
    }

    /**
     * The client is in TRANSFER once it has cut the log, and not before; one whose file of epochs is empty, as that of
     * a member that is new to its group, has nothing to compare and cuts nothing (AutoSwitchHAClient.doTruncate).
     * Before a controller has told its role a member has no client, and the role of a master in its configuration.
     */
    @Override
    public boolean agreed() {
        HAService ha = store.getHaService();
        if (!(ha instanceof AutoSwitchHAService)) {
            return true;
        }
        HAClient client = ha.getHAClient();
        return client != null && client.getCurrentState() == HAConnectionState.TRANSFER;
    }

    private MappedFileQueue files() {
        return store.getCommitLog().getMappedFileQueue();
    }
}
