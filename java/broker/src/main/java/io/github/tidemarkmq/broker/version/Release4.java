package io.github.tidemarkmq.broker.version;

import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.StartRefused;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.BrokerStartup;
import org.apache.rocketmq.broker.offset.ConsumerOffsetManager;
import org.apache.rocketmq.common.constant.LoggerName;
import org.apache.rocketmq.remoting.RemotingServer;
import org.apache.rocketmq.remoting.netty.NettyRemotingAbstract;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.store.MessageStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A broker 4.9: BrokerStartup makes and initializes it in one go, with a manager of its own, in whose place ours is put
 * before anything is served. All users of the manager read the field again each time.
 */
final class Release4 extends Release {
    /** The name of the thread in which BrokerStartup shuts the broker down. */
    private static final String BROKERS_HOOK = "ShutdownHook";
    private static final long HOOK_SECONDS = 60;

    Release4(String version) {
        super(version);
    }

    @Override
    public BrokerController open(String[] args, Install install) throws StartRefused {
        configureLog();
        BrokerController controller = BrokerStartup.createBrokerController(args);
        if (controller.getConsumerOffsetManager().getClass() == ConsumerOffsetManager.class) {
            set(controller, BrokerController.class, "consumerOffsetManager", new UnwrittenOffsets(controller));
        }
        ConsumerOffsetManager manager = install.manager(controller);
        set(controller, BrokerController.class, "consumerOffsetManager", manager);
        if (!manager.load()) {
            throw new StartRefused("the broker could not load its offsets; what is above in its log says why");
        }
        return controller;
    }

    /** What is logged before BrokerStartup configures the logging goes where it will go then. */
    private static void configureLog() {
        String home = System.getProperty("rocketmq.home.dir", System.getenv("ROCKETMQ_HOME"));
        if (home != null && System.getProperty("logback.configurationFile") == null) {
            System.setProperty("logback.configurationFile", home + "/conf/logback_broker.xml");
        }
        if (System.getProperty("brokerLogDir") == null) {
            System.setProperty("brokerLogDir", "");
        }
    }

    @Override
    public void front(BrokerController controller, int code, Front front, ExecutorService pool) {
        front(controller.getRemotingServer(), code, front, pool);
        front((RemotingServer) get(controller, BrokerController.class, "fastRemotingServer"), code, front, pool);
    }

    private static void front(RemotingServer server, int code, Front front, ExecutorService pool) {
        Object brokers = pair(server, code);
        NettyRequestProcessor processor = (NettyRequestProcessor) call(brokers, "getObject1");
        ExecutorService brokersPool = (ExecutorService) call(brokers, "getObject2");
        server.registerProcessor(code, front.over(processor), pool == null ? brokersPool : pool);
    }

    /** The broker's processor of a code and its pool: a Pair, which is in another package than in 5.x. */
    private static Object pair(RemotingServer server, int code) {
        try {
            Object pair = server.getClass().getMethod("getProcessorPair", int.class).invoke(server, code);
            return pair != null ? pair : get(server, NettyRemotingAbstract.class, "defaultRequestProcessor");
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the broker's processor of code " + code + " cannot be found", e);
        }
    }

    /** BrokerStartup has a hook of its own already, which runs alongside ours: ours waits for it. */
    @Override
    public void atEnd(BrokerController controller, Runnable before, Runnable after) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            Thread brokers = brokersHook();
            before.run();
            await(brokers);
            after.run();
        }, "tidemark-end"));
    }

    /** The broker's hook, which is started in the same instant as ours; null if it does not show up. */
    private static Thread brokersHook() {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        while (System.nanoTime() < until) {
            for (Thread t : Thread.getAllStackTraces().keySet()) {
                if (t.getName().equals(BROKERS_HOOK)) {
                    return t;
                }
            }
        }
        return null;
    }

    private static void await(Thread brokers) {
        try {
            if (brokers != null) {
                brokers.join(TimeUnit.SECONDS.toMillis(HOOK_SECONDS));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A 4.9 answers in the form of the request, a 5.x in its own. */
    @Override
    void form(RemotingCommand request, RemotingCommand response) {
        response.setSerializeTypeCurrentRPC(request.getSerializeTypeCurrentRPC());
    }

    @Override
    public String removesOffsets() {
        return "removeOffset";
    }

    /** A 4.9 leaves them. */
    @Override
    public Set<String> offsetsRemovedWith(BrokerController controller, String topic) {
        return Collections.emptySet();
    }

    @Override
    public void nextDataVersion(BrokerController controller, ConsumerOffsetManager manager) {
    }

    @Override
    public String dataVersion(ConsumerOffsetManager manager) {
        return "";
    }

    @Override
    public void readDataVersion(ConsumerOffsetManager manager, Path file) {
    }

    @Override
    public Log log() {
        configureLog();
        Logger logger = LoggerFactory.getLogger(LoggerName.BROKER_LOGGER_NAME);
        return lines(logger::info, logger::warn, logger::error);
    }

    @Override
    public void flushLog() {
        call(LoggerFactory.getILoggerFactory(), "stop");
    }

    /** What it returns is of another class than in 5.x. */
    static boolean hasQueue(MessageStore store, String topic, int queue) {
        try {
            return store.getClass().getMethod("getConsumeQueue", String.class, int.class).invoke(store, topic, queue)
                != null;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the store of this broker 4.9 is not what 4.9.7's is", e);
        }
    }

    static Object get(Object target, Class<?> declaring, String field) {
        try {
            return open(declaring, field).get(target);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(declaring.getName() + "." + field + " cannot be read", e);
        }
    }

    private static void set(Object target, Class<?> declaring, String field, Object value) {
        try {
            open(declaring, field).set(target, value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(declaring.getName() + "." + field + " cannot be set", e);
        }
    }

    private static Field open(Class<?> declaring, String field) throws NoSuchFieldException {
        Field f = declaring.getDeclaredField(field);
        f.setAccessible(true);
        return f;
    }
}
