package io.github.tidemarkmq.broker.version;

import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Role;
import io.github.tidemarkmq.broker.progress.StartRefused;
import io.github.tidemarkmq.broker.reset.LongPolls;
import io.github.tidemarkmq.broker.reset.Nudge;
import io.github.tidemarkmq.broker.role.BrokerGroup;
import io.github.tidemarkmq.broker.role.ControllerGroup;
import io.github.tidemarkmq.broker.role.RolePlugin;
import io.github.tidemarkmq.broker.role.RoleWatch;
import io.github.tidemarkmq.broker.store.BrokerQueues;
import io.github.tidemarkmq.broker.store.LogOf5;
import io.github.tidemarkmq.broker.store.LogView;
import io.github.tidemarkmq.broker.store.QueueEnds;
import io.github.tidemarkmq.broker.store.StoreGate;
import java.util.function.Consumer;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.out.BrokerOuterAPI;
import org.apache.rocketmq.remoting.RemotingClient;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.MessageStore;

/** What packages store, role and reset need of a version of the broker. Which one it is, is seen by what it has. */
public final class Hooks {
    private Hooks() {
    }

    /** The log of a broker that is initialized. */
    public static LogView log(BrokerController controller) {
        if (!is49()) {
            return new LogOf5(controller.getMessageStore(), controller.getMessageStoreConfig());
        }
        try {
            return new LogOf49((DefaultMessageStore) controller.getMessageStore());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the commit log of this broker 4.9 is not what 4.9.7's is", e);
        }
    }

    /** The queues of a broker that is initialized. */
    public static QueueEnds queues(BrokerController controller) {
        MessageStore store = controller.getMessageStore();
        BrokerQueues.Stored stored = is49() ? (topic, queue) -> Release4.hasQueue(store, topic, queue)
            : (topic, queue) -> store.getConsumeQueue(topic, queue) != null;
        return new BrokerQueues(store, stored, controller.getTopicConfigManager()::selectTopicConfig);
    }

    /**
     * Has check run when the store has started and no port is open yet. To be called between initialize() and start(),
     * after processors were put in front of the broker's.
     */
    public static void beforePorts(BrokerController controller, Runnable check) {
        if (is49()) {
            StoreGate49.before(controller, check);
        } else {
            StoreGate.before(controller, check);
        }
    }

    /** What tells live consumers of resets; makes a 5.x hand resets out with pulls, whatever it is configured to. */
    public static Nudge nudge(BrokerController controller, Log log) {
        if (is49()) {
            return new ResetRequest(controller, log);
        }
        controller.getBrokerConfig().setUseServerSideResetOffset(true); // if not, a pull erases resets unapplied
        return new LongPolls(controller);
    }

    /** The role that the configuration gives: in a controller group none is the master before it is elected. */
    public static Role role(BrokerController controller) {
        return BrokerGroup.configured(controller, inControllerGroup(controller));
    }

    /** The group of a broker that is initialized. */
    public static RoleWatch.Group group(BrokerController controller) {
        return inControllerGroup(controller) ? new ControllerGroup(controller) : new BrokerGroup(controller, client(controller));
    }

    /** Has role changes reported to the watch. On a 4.9 there are none. @param end ends the process; it returns */
    public static void tell(BrokerController controller, RoleWatch watch, Consumer<StartRefused> end) {
        if (!is49()) {
            controller.getBrokerAttachedPlugins().add(new RolePlugin(controller, watch, end));
        }
    }

    private static boolean inControllerGroup(BrokerController controller) {
        return !is49() && controller.getBrokerConfig().isEnableControllerMode();
    }

    private static RemotingClient client(BrokerController controller) {
        BrokerOuterAPI outer = controller.getBrokerOuterAPI();
        return is49() ? (RemotingClient) Release4.get(outer, BrokerOuterAPI.class, "remotingClient") : outer.getRemotingClient();
    }

    private static boolean is49() {
        try {
            Class.forName("org.apache.rocketmq.broker.plugin.BrokerAttachedPlugin");
            return false;
        } catch (ClassNotFoundException e) {
            return true;
        }
    }
}
