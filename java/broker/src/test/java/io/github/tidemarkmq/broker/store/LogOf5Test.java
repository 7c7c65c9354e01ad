package io.github.tidemarkmq.broker.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import org.apache.rocketmq.store.MessageStore;
import org.apache.rocketmq.store.config.BrokerRole;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.ha.DefaultHAService;
import org.apache.rocketmq.store.ha.HAClient;
import org.apache.rocketmq.store.ha.HAConnectionState;
import org.apache.rocketmq.store.ha.HAService;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAService;
import org.junit.jupiter.api.Test;

/** Whether a slave's log is the group's. */
class LogOf5Test {
    private final MessageStoreConfig config = new MessageStoreConfig();
    private HAConnectionState state = HAConnectionState.READY;

    private LogView log(HAService ha) {
        return new LogOf5(only(MessageStore.class, "getHaService", () -> ha), config);
    }

    private interface Answer {
        Object get();
    }

    /** An object of which one method may be called. */
    private static <T> T only(Class<T> type, String name, Answer answer) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            assertEquals(name, method.getName());
            return answer.get();
        }));
    }

    private HAService group(boolean connected) {
        HAClient client = connected ? only(HAClient.class, "getCurrentState", () -> state) : null;
        return new AutoSwitchHAService() {
            @Override
            public HAClient getHAClient() {
                return client;
            }
        };
    }

    @Test
    void aMemberThatHasNotCutItsLogYetHasNotAgreed() {
        config.setBrokerRole(BrokerRole.SLAVE);
        LogView log = log(group(true));
        for (HAConnectionState s : HAConnectionState.values()) {
            state = s;
            assertEquals(s == HAConnectionState.TRANSFER, log.agreed(), s.name());
        }
    }

    /** Its configuration is that of a master until its controllers tell the role, and its ports are open. */
    @Test
    void aMemberThatHasHeardOfNoMasterHasNotAgreed() {
        assertEquals(BrokerRole.ASYNC_MASTER, config.getBrokerRole());
        assertFalse(log(group(false)).agreed());
    }

    @Test
    void aClassicSlaveNeedNot() {
        config.setBrokerRole(BrokerRole.SLAVE);
        assertTrue(log(new DefaultHAService()).agreed());
        assertTrue(log(null).agreed());
    }
}
