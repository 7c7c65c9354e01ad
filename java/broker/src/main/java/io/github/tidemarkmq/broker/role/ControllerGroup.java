package io.github.tidemarkmq.broker.role;

import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.controller.ReplicasManager;

/** A group whose master a controller elects: 5.x. */
public final class ControllerGroup extends BrokerGroup {
    public ControllerGroup(BrokerController controller) {
        super(controller, controller.getBrokerOuterAPI().getRemotingClient());
    }

    @Override
    public int epoch() {
        return replicas().getMasterEpoch();
    }

    @Override
    public Object lock() {
        return replicas();
    }

    private ReplicasManager replicas() {
        return controller.getReplicasManager();
    }
}
