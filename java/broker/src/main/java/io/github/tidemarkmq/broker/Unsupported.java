package io.github.tidemarkmq.broker;

import io.github.tidemarkmq.broker.progress.StartRefused;
import io.github.tidemarkmq.broker.version.UnwrittenOffsets;
import java.util.Properties;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.offset.ConsumerOffsetManager;

/** Kinds of broker that keep offsets where our manager does not reach, or change roles without a word: none starts. */
final class Unsupported {
    private static final String PLAIN = "; or start this broker with org.apache.rocketmq.broker.BrokerStartup, without"
        + " Tidemark";

    private Unsupported() {
    }

    /** What broker.conf shows, before the broker is made. */
    static void check(Properties conf) throws StartRefused {
        if (is(conf, "enableDLegerCommitLog")) {
            throw new StartRefused("enableDLegerCommitLog=true is not supported: a DLedger group changes its master"
                + " without telling the offset manager. Use a controller group (enableControllerMode, 5.x)" + PLAIN);
        }
        String plugIn = conf.getProperty("messageStorePlugIn", "").trim();
        if (!plugIn.isEmpty()) {
            throw new StartRefused("messageStorePlugIn=" + plugIn + " is not supported: a tiered or other store may"
                + " answer a pull on a thread of its own, where its commit is taken for POP's. Take the line out"
                + PLAIN);
        }
        boolean popStore = is(conf, "popConsumerKVServiceEnable") || is(conf, "popConsumerKVServiceInit");
        boolean slaves = is(conf, "enableControllerMode") || is(conf, "enableSlaveActingMaster")
            || role(conf).equals("SLAVE") || role(conf).equals("SYNC_MASTER");
        if (popStore && slaves) {
            throw new StartRefused("popConsumerKVServiceEnable=true with slaves is not supported: POP then keeps what"
                + " is under way in a store of the master's own, which no slave has. Set it to false" + PLAIN);
        }
    }

    /** What the broker has become. */
    static void check(BrokerController controller) throws StartRefused {
        Class<?> manager = controller.getConsumerOffsetManager().getClass();
        if (manager == ConsumerOffsetManager.class || manager == UnwrittenOffsets.class) {
            return;
        }
        String name = manager.getSimpleName();
        if (name.startsWith("Lmq")) {
            throw new StartRefused("enableLmq=true is not supported: light queues keep their offsets in a file of their"
                + " own. Set it to false" + PLAIN);
        }
        if (name.startsWith("RocksDB")) {
            throw new StartRefused("storeType=defaultRocksDB is not supported: offsets are in a RocksDB then. Set"
                + " storeType=default" + PLAIN);
        }
        if (name.endsWith("V2")) {
            throw new StartRefused("configManagerVersion=v2 is not supported: offsets are in a RocksDB then. Set"
                + " configManagerVersion=v1" + PLAIN);
        }
        throw new StartRefused("the offset manager " + manager.getName() + " is not supported" + PLAIN);
    }

    private static boolean is(Properties conf, String name) {
        return Boolean.parseBoolean(conf.getProperty(name, "").trim());
    }

    private static String role(Properties conf) {
        return conf.getProperty("brokerRole", "").trim();
    }
}
