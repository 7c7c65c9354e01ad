package io.github.tidemarkmq.broker.version;

import io.github.tidemarkmq.broker.store.StoreGate;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.remoting.RemotingServer;

/**
 * The same moment of a broker 4.9 as {@link StoreGate} has: the server that opens the first port is started right after
 * the store is. Another stands in its place until then.
 */
final class StoreGate49 {
    private StoreGate49() {
    }

    /** Has check run there. To be called between initialize() and start(). */
    static void before(BrokerController controller, Runnable check) {
        RemotingServer server = controller.getRemotingServer();
        controller.setRemotingServer((RemotingServer) Proxy.newProxyInstance(StoreGate49.class.getClassLoader(),
            new Class<?>[] {RemotingServer.class}, (proxy, method, args) -> {
                if (method.getName().equals("start")) {
                    check.run();
                    controller.setRemotingServer(server); // it is cast to its class later
                }
                return call(server, method, args);
            }));
    }

    private static Object call(RemotingServer server, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(server, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
