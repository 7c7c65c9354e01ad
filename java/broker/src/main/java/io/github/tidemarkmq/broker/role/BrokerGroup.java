package io.github.tidemarkmq.broker.role;

import io.github.tidemarkmq.broker.progress.Role;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.remoting.RemotingClient;
import org.apache.rocketmq.store.config.BrokerRole;

/** The group of a broker without a controller: of any version. */
public class BrokerGroup implements RoleWatch.Group {
    final BrokerController controller;
    private final RemotingClient client;

    /** @param client of the broker's, for asking other brokers */
    public BrokerGroup(BrokerController controller, RemotingClient client) {
        this.controller = controller;
        this.client = client;
    }

    /** The role that the configuration gives, before any controller has spoken. */
    public static Role configured(BrokerController controller, boolean controllerGroup) {
        boolean slave = controller.getMessageStoreConfig().getBrokerRole() == BrokerRole.SLAVE;
        return slave || controllerGroup ? Role.SLAVE : Role.MASTER;
    }

    @Override
    public int epoch() {
        return 0;
    }

    @Override
    public Object lock() {
        return controller;
    }

    @Override
    public String master() {
        return controller.getSlaveSynchronize().getMasterAddr();
    }

    @Override
    public MasterState stateOf(String address) throws Exception {
        return MasterState.ask(client, address);
    }
}
