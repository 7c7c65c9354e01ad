package io.github.tidemarkmq.broker.role;

import io.github.tidemarkmq.broker.progress.Role;
import io.github.tidemarkmq.broker.progress.StartRefused;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.plugin.BrokerAttachedPlugin;
import org.apache.rocketmq.store.config.BrokerRole;

/**
 * How a broker 5.x reports role changes: to a plugin in its controller's list. It reports more than those: a start of
 * services on a slave that acts for its master, which stays a slave, and their stop on a master that is not back yet,
 * which stays a master.
 */
public final class RolePlugin implements BrokerAttachedPlugin {
    private final BrokerController controller;
    private final RoleWatch watch;
    private final Consumer<StartRefused> end;

    /** @param end ends the process; it returns */
    public RolePlugin(BrokerController controller, RoleWatch watch, Consumer<StartRefused> end) {
        this.controller = controller;
        this.watch = watch;
        this.end = end;
    }

    @Override
    public String pluginName() {
        return "tidemark";
    }

    /** In ReplicasManager the role is set when this is called. */
    @Override
    public void statusChanged(boolean started) {
        boolean slave = controller.getMessageStoreConfig().getBrokerRole() == BrokerRole.SLAVE;
        boolean elected = started || !controller.getBrokerConfig().isEnableControllerMode();
        try {
            watch.changed(slave || !elected ? Role.SLAVE : Role.MASTER);
        } catch (StartRefused e) {
            end.accept(e);
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    @Override
    public boolean load() {
        return true;
    }

    @Override
    public void start() {
    }

    @Override
    public void shutdown() {
    }

    @Override
    public void syncMetadata() {
    }

    @Override
    public void syncMetadataReverse(String brokerAddr) {
    }

    @Override
    public void buildRuntimeInfo(Map<String, String> runtimeInfo) {
    }
}
