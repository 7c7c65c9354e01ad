package io.github.tidemarkmq.broker.processor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.manager.Caller;
import io.github.tidemarkmq.broker.progress.Consumers;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.LogEnd;
import io.github.tidemarkmq.broker.progress.OffsetFile;
import io.github.tidemarkmq.broker.progress.Options;
import io.github.tidemarkmq.broker.progress.Origin;
import io.github.tidemarkmq.broker.progress.Progress;
import io.github.tidemarkmq.broker.progress.Role;
import io.github.tidemarkmq.broker.version.Release;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Commit;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TestCluster;
import io.github.tidemarkmq.client.TidemarkException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A slave that is asked for offsets while the cluster does not answer. */
class OffsetRequestsTest implements Consumers, Log {
    private static final int NOT_FOUND = 22;

    @TempDir
    Path folder;

    private final BlockingQueue<Runnable> lane = new LinkedBlockingQueue<>();
    private final AtomicBoolean deaf = new AtomicBoolean();
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());

    @Test
    @Timeout(60)
    void whatNobodyKnowsIsNotAnswered() throws Exception {
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client()) {
            Deadline soon = Deadline.after(20, TimeUnit.SECONDS);
            OffsetKey known = new OffsetKey("billing", "orders", "b", 0);
            String id = cluster.status(soon).meta().clusterId();
            cluster.commit(id, Collections.singletonList(new Commit(known, 5, 0)), soon);
            Options options = new Options("b", () -> "C/1");
            options.twoWayMillis = 200;
            Progress progress = new Progress(options, withoutFetches(cluster), LogEnd.NONE, this, this);
            progress.start(Role.SLAVE, OffsetFile.read(folder.resolve("consumerOffset.json")));
            OffsetRequests requests = new OffsetRequests(new Answering(progress), Release.running(), progress,
                new Connections((g, c) -> false, 0, c -> { }), lane::add, this);
            try {
                deaf.set(true);
                ask(requests, 1);
                RemotingCommand second = ask(requests, 0);
                RemotingCommand got = null;
                while (got == null) {
                    got = sent();
                }
                assertEquals(second.getOpaque(), got.getOpaque(), "the first one's time was over before");
                assertEquals(0, got.getCode(), "the table has it");
                assertNull(lane.poll());
                deaf.set(false);
                RemotingCommand again = ask(requests, 1);
                for (got = sent(); got == null; got = sent()) {
                    again = ask(requests, 1); // as clients do: who reads makes a pause after failures
                }
                assertEquals(again.getOpaque(), got.getOpaque());
                assertEquals(NOT_FOUND, got.getCode(), "the cluster says that there is none");
            } finally {
                progress.close(0, TimeUnit.MILLISECONDS);
            }
        }
    }

    @Test
    @Timeout(60)
    void whatIsForgottenBeforeItsAnswerIsNotAnswered() throws Exception {
        try (TestCluster nodes = TestCluster.start(1); Cluster cluster = nodes.client()) {
            Options options = new Options("b", () -> "C/1");
            options.twoWayMillis = 200;
            Progress progress = new Progress(options, withoutFetches(cluster), LogEnd.NONE, this, this);
            progress.start(Role.SLAVE, OffsetFile.read(folder.resolve("consumerOffset.json")));
            OffsetRequests requests = new OffsetRequests(new Answering(progress), Release.running(), progress,
                new Connections((g, c) -> false, 0, c -> { }), lane::add, this);
            try {
                deaf.set(true);
                Key key = new Key("orders", "billing", 1);
                progress.commit(io.github.tidemarkmq.broker.progress.Commit.of(key, 9, Origin.ONE_WAY, "c1", 0));
                ask(requests, 1);
                Runnable answer = lane.take();
                progress.demote(); // nobody has read the key
                answer.run();
                channel.runPendingTasks();
                assertNull(channel.readOutbound(), "its consumer would go to the end of the queue");
            } finally {
                progress.close(0, TimeUnit.MILLISECONDS);
            }
        }
    }

    @Test
    void whatAnotherBrokerPassesOnIsNoOperators() throws Exception {
        AtomicBoolean operators = new AtomicBoolean();
        OffsetRequests requests = new OffsetRequests(new Refusing(() -> operators.set(Caller.current().isOperator())),
            Release.running(), null, new Connections((g, c) -> false, 0, c -> { }), lane::add, this);
        ChannelHandlerContext connection = channel.pipeline().firstContext();
        RemotingCommand request = RemotingCommand.createRequestCommand(OffsetRequests.UPDATE, null);
        request.addExtField("consumerGroup", "billing");
        requests.processRequest(connection, request);
        assertTrue(operators.get());
        request.addExtField("lo", "false");
        requests.processRequest(connection, request);
        assertFalse(operators.get());
    }

    /** Looks who asks, and takes nothing. */
    private static final class Refusing implements NettyRequestProcessor {
        private final Runnable look;

        Refusing(Runnable look) {
            this.look = look;
        }

        @Override
        public RemotingCommand processRequest(ChannelHandlerContext ctx, RemotingCommand request) {
            look.run();
            return RemotingCommand.createResponseCommand(1, null);
        }

        @Override
        public boolean rejectRequest() {
            return false;
        }
    }

    private RemotingCommand ask(OffsetRequests requests, int queue) throws Exception {
        RemotingCommand request = RemotingCommand.createRequestCommand(OffsetRequests.QUERY, null);
        request.addExtField("topic", "orders");
        request.addExtField("consumerGroup", "billing");
        request.addExtField("queueId", String.valueOf(queue));
        assertNull(requests.processRequest(channel.pipeline().firstContext(), request), "it waits for the read");
        return request;
    }

    /** What is answered next; null if nothing is within a second. The channel is of this thread alone. */
    private RemotingCommand sent() throws InterruptedException {
        Runnable answer = lane.poll(1, TimeUnit.SECONDS);
        if (answer == null) {
            return null;
        }
        answer.run();
        channel.runPendingTasks();
        return channel.readOutbound();
    }

    private Cluster withoutFetches(Cluster cluster) {
        return (Cluster) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, method, args) -> {
                if (deaf.get() && method.getName().equals("fetch")) {
                    throw new TidemarkException(Code.UNREACHABLE, "as the test wants it");
                }
                try {
                    return method.invoke(cluster, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }

    /** As the broker's own processor answers. */
    private static final class Answering implements NettyRequestProcessor {
        private final Progress progress;

        Answering(Progress progress) {
            this.progress = progress;
        }

        @Override
        public RemotingCommand processRequest(ChannelHandlerContext ctx, RemotingCommand request) {
            Key key = new Key("orders", "billing", Integer.parseInt(request.getExtFields().get("queueId")));
            return RemotingCommand.createResponseCommand(progress.query(key).isPresent() ? 0 : NOT_FOUND, null);
        }

        @Override
        public boolean rejectRequest() {
            return false;
        }
    }

    @Override
    public void assign(Key key, long before, long offset) {
    }

    @Override
    public void release(Key key) {
    }

    @Override
    public boolean neverPulls(Key key) {
        return false;
    }

    @Override
    public void info(String line) {
    }

    @Override
    public void warn(String line) {
    }

    @Override
    public void error(String line, Throwable cause) {
        throw new AssertionError(line, cause);
    }
}
