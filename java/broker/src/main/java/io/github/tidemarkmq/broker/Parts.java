package io.github.tidemarkmq.broker;

import io.github.tidemarkmq.broker.manager.ClusterOffsetManager;
import io.github.tidemarkmq.broker.manager.Guard;
import io.github.tidemarkmq.broker.processor.Acts;
import io.github.tidemarkmq.broker.processor.BrokerConfigRequests;
import io.github.tidemarkmq.broker.processor.BrokerStatus;
import io.github.tidemarkmq.broker.processor.Connections;
import io.github.tidemarkmq.broker.processor.Lanes;
import io.github.tidemarkmq.broker.processor.OffsetRequests;
import io.github.tidemarkmq.broker.processor.Pulls;
import io.github.tidemarkmq.broker.progress.Commit;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Options;
import io.github.tidemarkmq.broker.progress.Progress;
import io.github.tidemarkmq.broker.progress.Role;
import io.github.tidemarkmq.broker.progress.StartRefused;
import io.github.tidemarkmq.broker.reset.Offsets;
import io.github.tidemarkmq.broker.reset.OpenResets;
import io.github.tidemarkmq.broker.role.RoleWatch;
import io.github.tidemarkmq.broker.role.StoreIdentity;
import io.github.tidemarkmq.broker.store.CommitLogEnd;
import io.github.tidemarkmq.broker.store.LogView;
import io.github.tidemarkmq.broker.store.QueueEnds;
import io.github.tidemarkmq.broker.store.TailCheck;
import io.github.tidemarkmq.broker.version.Hooks;
import io.github.tidemarkmq.broker.version.Release;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.TidemarkClient;
import io.github.tidemarkmq.client.TidemarkException;
import java.nio.file.Paths;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.client.ConsumerGroupInfo;
import org.apache.rocketmq.broker.offset.ConsumerOffsetManager;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;

/** What a broker on Tidemark consists of, put together, and taken apart in the right order. */
final class Parts {
    /** How long the end waits while the ports are open, for those who wait for their commits. */
    private static final long DRAIN_MILLIS = 2_000;
    /** How long it waits for the cluster once nobody commits any more. What is left is in the file. */
    private static final long CLOSE_MILLIS = 5_000;

    private final Release release;
    private final Settings settings;
    private final Lanes lanes = new Lanes();
    private Log log;
    private Guard guard;
    private Cluster cluster;
    private CommitLogEnd logEnd;
    private LogView logView;
    private OpenResets resets;
    private Connections connections;
    private StoreIdentity store;
    private Progress progress;
    private ClusterOffsetManager manager;
    private StateLog stateLog;
    private RoleWatch watch;
    private QueueEnds queues;

    Parts(Release release, Settings settings) {
        this.release = release;
        this.settings = settings;
    }

    /** The manager of a broker that is made; the cluster is asked when the broker loads it. */
    ConsumerOffsetManager manager(BrokerController controller) throws StartRefused {
        log = release.log();
        Unsupported.check(controller);
        log.info("Tidemark: a broker " + release.version() + " with " + settings + ".");
        cluster = open(settings);
        connections = new Connections(groups(controller),
            controller.getNettyServerConfig().getListenPort() - 2, client -> progress.forget(client));
        guard = settings.guard() ? new Guard(connections, log) : null;
        logEnd = new CommitLogEnd(settings.flush(), log);
        resets = new OpenResets(Hooks.nudge(controller, log), connections, log);
        store = StoreIdentity.open(Paths.get(controller.getMessageStoreConfig().getStorePathRootDir()));
        progress = new Progress(options(controller), cluster, logEnd, resets, log);
        resets.start(following(progress));
        manager = new ClusterOffsetManager(managerParts(controller));
        return manager;
    }

    private Options options(BrokerController controller) {
        BrokerConfig config = controller.getBrokerConfig();
        String rocketCluster = config.getBrokerClusterName();
        String name = settings.broker(config.getBrokerName());
        Options options = new Options(name, () -> rocketCluster + "/" + store.orDrawn());
        options.peers = connections;
        settings.to(options);
        return options;
    }

    private static Connections.Groups groups(BrokerController controller) {
        return (group, channel) -> {
            ConsumerGroupInfo members = controller.getConsumerManager().getConsumerGroupInfo(group);
            return members != null && members.getChannelInfoTable().containsKey(channel);
        };
    }

    private static Cluster open(Settings settings) throws StartRefused {
        try {
            return TidemarkClient.open(settings.client());
        } catch (TidemarkException e) {
            throw new StartRefused("the tidemark lines of broker.conf: " + e.getMessage(), e);
        }
    }

    private ClusterOffsetManager.Parts managerParts(BrokerController controller) {
        ClusterOffsetManager.Parts p = new ClusterOffsetManager.Parts();
        p.release = release;
        p.controller = controller;
        p.progress = progress;
        p.logEnd = logEnd;
        p.resets = resets;
        p.role = Hooks.role(controller);
        p.log = log;
        p.guard = guard;
        p.ahead = this::ahead;
        return p;
    }

    private static Offsets following(Progress progress) {
        return new Offsets() {
            @Override
            public boolean followed(Key key, long offset, String client) {
                return progress.followed(key, offset, client);
            }

            @Override
            public boolean assignAgain(Key key, long offset) {
                return progress.assignAgain(key, offset);
            }
        };
    }

    private static RoleWatch.Keys keys(Progress progress) {
        return new RoleWatch.Keys() {
            @Override
            public void promote(long epoch) throws StartRefused {
                progress.promote(epoch);
            }

            @Override
            public void demote() {
                progress.demote();
            }

            @Override
            public boolean isOvertaken() {
                return progress.isOvertaken();
            }

            @Override
            public boolean areRead() {
                return progress.counters().clusterRead;
            }

            @Override
            public boolean areSettled() {
                return progress.isSettled();
            }

            @Override
            public void masterHasRead(String clusterId) {
                progress.masterHasRead(clusterId);
            }
        };
    }

    /** The broker is loaded: puts our processors in front of its own. */
    void serve(BrokerController controller) {
        release.front(controller, OffsetRequests.UPDATE, this::offsets, lanes);
        release.front(controller, OffsetRequests.QUERY, this::offsets, lanes);
        for (int code : new int[] {Pulls.PULL, Pulls.LITE_PULL}) {
            release.front(controller, code, b -> new Pulls(b, controller, connections, guard), null);
        }
        for (int code : new int[] {Acts.REMOVE_GROUP, Acts.REMOVE_TOPIC, Acts.RESET, Acts.CLONE}) {
            release.front(controller, code, b -> new Acts(b, release, controller, progress), null);
        }
        StatusLines lines = new StatusLines(progress, guard, store);
        release.front(controller, BrokerStatus.CODE, b -> new BrokerStatus(b, lines), null);
        for (int code : new int[] {BrokerConfigRequests.UPDATE, BrokerConfigRequests.GET}) {
            release.front(controller, code, BrokerConfigRequests::new, null);
        }
        stateLog = new StateLog(lines, log);
        stateLog.start();
        release.atEnd(controller, this::drain, this::close);
        follow(controller);
    }

    private boolean ahead(Commit commit) {
        Key key = commit.key();
        return watch.role() == Role.SLAVE
            && (!logView.agreed() || commit.offset() > queues.end(key.topic(), key.queue()).orElse(0));
    }

    /** What depends on the broker's log and role. */
    private void follow(BrokerController controller) {
        logView = Hooks.log(controller);
        logEnd.start(logView);
        queues = Hooks.queues(controller);
        TailCheck tail = new TailCheck(progress::rows, progress::assign, queues, settings.lostLog(), log);
        watch = new RoleWatch(Hooks.role(controller), keys(progress), tail, Hooks.group(controller), store, log);
        // Whoever changes a role holds locks that the end of the process needs.
        Hooks.tell(controller, watch,
            e -> new Thread(() -> TidemarkBrokerStartup.end(release, e), "tidemark-refused").start());
        Hooks.beforePorts(controller, this::beforeServing);
    }

    private void beforeServing() {
        try {
            watch.beforeServing();
        } catch (StartRefused e) {
            manager.leaveFile();
            TidemarkBrokerStartup.end(release, e);
        }
    }

    private OffsetRequests offsets(NettyRequestProcessor brokers) {
        return new OffsetRequests(brokers, release, progress, connections, lanes, log);
    }

    /** Before the ports close: whoever waits for a commit gets the answer. */
    private void drain() {
        progress.drain(DRAIN_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** After the broker: nobody commits any more. What the cluster does not take in time goes into the file. */
    private void close() {
        lanes.shutdownNow();
        stateLog.close();
        watch.close();
        resets.close();
        progress.close(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
        logEnd.close();
        manager.persist();
        cluster.close();
        log.info("Tidemark: ended; " + progress.counters().marked
            + " offsets are in the file that the cluster does not have.");
        release.flushLog();
    }
}
