package io.github.tidemarkmq.broker.version;

import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.StartRefused;
import io.netty.channel.Channel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.offset.ConsumerOffsetManager;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** The version of the broker that this process is, and how that is started, extended and ended. */
public abstract class Release {
    /** What was tested. Another version may have moved what we build on, so it is refused. */
    private static final Set<String> SUPPORTED =
        Collections.unmodifiableSet(new HashSet<>(Arrays.asList("4.9.7", "5.3.3", "5.4.0", "5.5.0")));

    private final String version;

    Release(String version) {
        this.version = version;
    }

    /** Makes the offset manager of a controller that has been made and serves nothing yet. */
    public interface Install {
        /** @throws StartRefused the broker must not serve */
        ConsumerOffsetManager manager(BrokerController controller) throws StartRefused;
    }

    /** Puts a processor of ours in front of the broker's own. */
    public interface Front {
        NettyRequestProcessor over(NettyRequestProcessor brokers);
    }

    /** The version on the class path. */
    public static Release running() throws StartRefused {
        return of(MQVersion.getVersionDesc(currentVersion()));
    }

    /** @param description as MQVersion prints it: V5_5_0 */
    static Release of(String description) throws StartRefused {
        String version = description.replaceFirst("^V", "").replace('_', '.');
        if (!SUPPORTED.contains(version)) {
            throw new StartRefused("RocketMQ " + version + " is not supported: use 5.3.3 to 5.5.0, or 4.9.7;"
                + " or start this broker with org.apache.rocketmq.broker.BrokerStartup, without Tidemark");
        }
        return version.startsWith("4.") ? new Release4(version) : Release5.of(version);
    }

    /** The constant as the broker's own jar has it: javac would put 5.5.0's in its place. */
    private static int currentVersion() {
        try {
            return MQVersion.class.getField("CURRENT_VERSION").getInt(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("no version in RocketMQ's MQVersion: is this a broker's class path?", e);
        }
    }

    /** As people write it: 5.5.0. */
    public final String version() {
        return version;
    }

    /**
     * Makes the broker as its own BrokerStartup does, with the manager that install gives, and initializes it: its
     * files and its message store are loaded, nothing is started. The manager's load is called on the way.
     *
     * @param args of the command line; BrokerStartup ends the process if they make no sense
     */
    public abstract BrokerController open(String[] args, Install install) throws StartRefused;

    /**
     * Puts a processor in front of the broker's own for a request code, on both of its ports. To be called before the
     * broker is started.
     *
     * @param pool runs it; null for the pool of the broker's own
     */
    public abstract void front(BrokerController controller, int code, Front front, ExecutorService pool);

    /**
     * What is run when the process is told to end: before the broker closes its ports, where the version allows that,
     * and after all of it is closed.
     */
    public abstract void atEnd(BrokerController controller, Runnable before, Runnable after);

    /** Answers a request later than its processor returned. Any thread. Does nothing for a one-way request. */
    public final void send(Channel channel, RemotingCommand request, RemotingCommand response) {
        if (request.isOnewayRPC()) {
            return;
        }
        response.setOpaque(request.getOpaque());
        response.markResponseType();
        form(request, response);
        channel.writeAndFlush(response);
    }

    /** Gives a late answer the form that the broker's own answers have. */
    void form(RemotingCommand request, RemotingCommand response) {
    }

    /** The field of a request 207 that has the group's offsets removed too. */
    public abstract String removesOffsets();

    /**
     * The topics whose offsets this broker removes when it is told to delete a topic (215): that itself, and its retry
     * topics. Empty where it removes none, or refuses to delete the topic.
     */
    public abstract Set<String> offsetsRemovedWith(BrokerController controller, String topic);

    /** Moves the version number of the offsets on, as a broker does each 500 commits; nothing in a 4.9. */
    public abstract void nextDataVersion(BrokerController controller, ConsumerOffsetManager manager);

    /** That version number as JSON, which slaves of a 5.x need; empty in a 4.9. */
    public abstract String dataVersion(ConsumerOffsetManager manager);

    /** Takes that number over from the broker's file, so that slaves are told no smaller one after a restart. */
    public abstract void readDataVersion(ConsumerOffsetManager manager, Path file);

    /**
     * The broker's log. Asking for it configures the logging, for which BrokerStartup has to have said where the
     * files are; before that only a start that ends may ask.
     */
    public abstract Log log();

    /** Waits until the lines logged so far are in the file: the broker logs asynchronously. Within a second. */
    public abstract void flushLog();

    /** The lines of a logger, whose class is another in 4.9 and 5.x. */
    static Log lines(Consumer<String> info, Consumer<String> warn, BiConsumer<String, Throwable> error) {
        return new Log() {
            @Override
            public void info(String line) {
                info.accept(line);
            }

            @Override
            public void warn(String line) {
                warn.accept(line);
            }

            @Override
            public void error(String line, Throwable cause) {
                error.accept(line, cause);
            }
        };
    }

    /** Calls a method without parameters, by name; its exceptions as IllegalStateException. */
    static Object call(Object target, String method) {
        try {
            return target.getClass().getMethod(method).invoke(target);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(method + " of " + target.getClass().getName() + " cannot be called", e);
        }
    }
}
