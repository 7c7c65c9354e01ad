package io.github.tidemarkmq.broker.version;

import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.StartRefused;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.BrokerStartup;
import org.apache.rocketmq.broker.offset.ConsumerOffsetManager;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.KeyBuilder;
import org.apache.rocketmq.common.Pair;
import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.constant.LoggerName;
import org.apache.rocketmq.common.topic.TopicValidator;
import org.apache.rocketmq.logging.org.slf4j.Logger;
import org.apache.rocketmq.logging.org.slf4j.LoggerFactory;
import org.apache.rocketmq.remoting.RemotingServer;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.DataVersion;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;

/** A broker 5.x: the manager has a setter, and the ports close at a moment that we are told of. */
final class Release5 extends Release {
    private static final Pattern DATA_VERSION = Pattern.compile("\"dataVersion\"\\s*:\\s*(\\{[^{}]*})");

    private final boolean argsOnly;

    private Release5(String version, boolean argsOnly) {
        super(version);
        this.argsOnly = argsOnly;
    }

    static Release of(String version) {
        boolean parses = Arrays.stream(BrokerStartup.class.getMethods())
            .anyMatch(m -> m.getName().equals("parseCmdLine"));
        return new Release5(version, !parses);
    }

    @Override
    public BrokerController open(String[] args, Install install) throws StartRefused {
        BrokerController controller = build(args);
        controller.setConsumerOffsetManager(install.manager(controller));
        try {
            if (!controller.initialize()) {
                throw new StartRefused("the broker could not load its files; what is above in its log says why");
            }
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e);
        }
        return controller;
    }

    private BrokerController build(String[] args) throws StartRefused {
        try {
            if (argsOnly) {
                return (BrokerController) BrokerStartup.class.getMethod("buildBrokerController", String[].class)
                    .invoke(null, (Object) args);
            }
            return BrokerStartup.buildBrokerController(BrokerStartup.parseCmdLine(args));
        } catch (Exception e) {
            throw new StartRefused("the broker could not be made from its configuration: " + e, e);
        }
    }

    @Override
    public void front(BrokerController controller, int code, Front front, ExecutorService pool) {
        front(controller.getRemotingServer(), code, front, pool);
        front(controller.getFastRemotingServer(), code, front, pool);
    }

    private static void front(RemotingServer server, int code, Front front, ExecutorService pool) {
        Pair<NettyRequestProcessor, ExecutorService> brokers = server.getProcessorPair(code);
        if (brokers == null) {
            brokers = server.getDefaultProcessorPair();
        }
        server.registerProcessor(code, front.over(brokers.getObject1()), pool == null ? brokers.getObject2() : pool);
    }

    @Override
    public void atEnd(BrokerController controller, Runnable before, Runnable after) {
        controller.setShutdownHook(c -> before.run());
        Runnable end = BrokerStartup.buildShutdownHook(controller);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            end.run();
            after.run();
        }, "tidemark-end"));
    }

    @Override
    public String removesOffsets() {
        return "cleanOffset";
    }

    /** As AdminBrokerProcessor.deleteTopic. */
    @Override
    public Set<String> offsetsRemovedWith(BrokerController controller, String topic) {
        BrokerConfig config = controller.getBrokerConfig();
        if (UtilAll.isBlank(topic)
            || config.isValidateSystemTopicWhenUpdateTopic() && TopicValidator.isSystemTopic(topic)) {
            return Collections.emptySet();
        }
        Set<String> topics = new LinkedHashSet<>();
        topics.add(topic);
        if (config.isClearRetryTopicWhenDeleteTopic()) {
            for (String group : controller.getConsumerOffsetManager().whichGroupByTopic(topic)) {
                topics.add(KeyBuilder.buildPopRetryTopic(topic, group, true));
                topics.add(KeyBuilder.buildPopRetryTopicV1(topic, group));
            }
            topics.removeIf(t -> !t.equals(topic) && controller.getTopicConfigManager().selectTopicConfig(t) == null);
        }
        return topics;
    }

    @Override
    public void nextDataVersion(BrokerController controller, ConsumerOffsetManager manager) {
        long state = controller.getMessageStore() == null ? 0 : controller.getMessageStore().getStateMachineVersion();
        manager.getDataVersion().nextVersion(state);
    }

    @Override
    public String dataVersion(ConsumerOffsetManager manager) {
        return RemotingSerializable.toJson(manager.getDataVersion(), false);
    }

    @Override
    public void readDataVersion(ConsumerOffsetManager manager, Path file) {
        try {
            Matcher m = DATA_VERSION.matcher(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
            if (m.find()) {
                manager.setDataVersion(RemotingSerializable.fromJson(m.group(1), DataVersion.class));
            }
        } catch (IOException | RuntimeException e) {
            return; // no file, only the .bak, or none in it that can be read: it restarts, as the broker's own does
        }
    }

    @Override
    public Log log() {
        Logger logger = LoggerFactory.getLogger(LoggerName.BROKER_LOGGER_NAME);
        return lines(logger::info, logger::warn, logger::error);
    }

    @Override
    public void flushLog() {
        call(LoggerFactory.getILoggerFactory(), "stop");
    }
}
