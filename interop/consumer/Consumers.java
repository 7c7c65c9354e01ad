import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import io.github.tidemarkmq.client.ClientOptions;
import io.github.tidemarkmq.client.TidemarkClient;
import io.github.tidemarkmq.consumer.StoreListener;
import io.github.tidemarkmq.consumer.StoreOptions;
import io.github.tidemarkmq.consumer.TidemarkOffsetStore;

import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * RocketMQ's own consumers, unmodified, with their offsets in a Tidemark cluster, told by lines on stdin. Arguments:
 * the name servers, and the cluster's addresses with commas between. What is consumed is a line in a file before the
 * client hears of it, and what is persisted a line in another after that; each by one write, so that kill -9 takes
 * none back. "start" and "stop" take a name; "told" prints what a store told its listener, and forgets it.
 */
public final class Consumers {
    private static final Map<String, AutoCloseable> RUNNING = new HashMap<>();
    private static final List<String> TOLD = new ArrayList<>();
    private static String names;
    private static TidemarkClient cluster;

    public static void main(String[] args) throws Exception {
        names = args[0];
        cluster = TidemarkClient.open(ClientOptions.seeds(args[1].split(",")).build());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] a = line.split("\t");
            switch (a[0]) {
                case "start":
                    RUNNING.put(a[1], begin(a));
                    break;
                case "stop":
                    RUNNING.remove(a[1]).close();
                    break;
                case "told":
                    synchronized (TOLD) {
                        TOLD.forEach(System.out::println);
                        TOLD.clear();
                    }
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
            System.out.println(".");
        }
        System.exit(0); // stdin has ended: the test is over, and waits for nothing
    }

    /** Starts a consumer; a client whose first connection to a name server breaks fails its start, and is made anew. */
    private static AutoCloseable begin(String[] a) throws Exception {
        for (int attempt = 1; ; attempt++) {
            try {
                return start(a[1], a[2], a[3], a[4], a[5], Integer.parseInt(a[6]));
            } catch (IllegalStateException | MQClientException e) {
                if (attempt == 5) {
                    throw e;
                }
                System.err.println("start " + attempt + " of " + a[1] + " failed: " + e);
            }
        }
    }

    /** Starts a consumer: its name, kind, group, topic, the stem of its files, and milliseconds for each batch. */
    private static AutoCloseable start(String name, String kind, String group, String topic, String stem, int takes)
        throws Exception {
        Lines consumed = new Lines(stem + ".consumed");
        Lines persisted = new Lines(stem + ".persisted");
        StoreOptions options = StoreOptions.DEFAULT.listener(new StoreListener() {
            @Override
            public void persisted(MessageQueue mq, long offset) {
                persisted.line(mq.getTopic() + " " + mq.getQueueId() + " " + offset);
            }

            @Override
            public void moved(MessageQueue mq) {
                told("moved " + mq.getTopic() + " " + mq.getQueueId());
            }

            @Override
            public void dropped(MessageQueue mq, long offset, String why) {
                told("dropped " + mq.getTopic() + " " + mq.getQueueId() + " " + offset + " " + why);
            }
        });
        return kind.startsWith("lite") ? lite(name, kind, group, topic, options, consumed, takes)
            : push(name, kind, group, topic, options, consumed, takes);
    }

    private static void told(String what) {
        synchronized (TOLD) {
            TOLD.add(what);
        }
    }

    private static AutoCloseable push(String name, String kind, String group, String topic, StoreOptions options,
        Lines consumed, int takes) throws Exception {
        DefaultMQPushConsumer c = new DefaultMQPushConsumer(group);
        c.setNamesrvAddr(names);
        c.setInstanceName(name);
        c.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        c.setConsumeThreadMin(4);
        c.setConsumeThreadMax(4);
        c.subscribe(topic, "*");
        if (kind.equals("orderly")) {
            c.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                consumed.messages(messages, takes);
                return ConsumeOrderlyStatus.SUCCESS;
            });
        } else {
            c.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                consumed.messages(messages, takes);
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        }
        TidemarkOffsetStore store = TidemarkOffsetStore.install(c, cluster, options);
        AutoCloseable end = () -> {
            c.shutdown();
            store.close();
        };
        orEnd(c::start, end);
        return end;
    }

    private static AutoCloseable lite(String name, String kind, String group, String topic, StoreOptions options,
        Lines consumed, int takes) throws Exception {
        DefaultLitePullConsumer c = new DefaultLitePullConsumer(group);
        c.setNamesrvAddr(names);
        c.setInstanceName(name);
        c.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        TidemarkOffsetStore store = TidemarkOffsetStore.install(c, cluster, options);
        AutoCloseable end = () -> {
            c.shutdown();
            store.close();
        };
        orEnd(() -> {
            if (kind.equals("lite-assign")) {
                c.start();
                c.assign(c.fetchMessageQueues(topic));
            } else {
                c.subscribe(topic, "*");
                c.start();
            }
        }, end);
        AtomicBoolean ended = new AtomicBoolean();
        Thread poller = new Thread(() -> {
            while (!ended.get()) {
                consumed.messages(c.poll(200), takes);
            }
        });
        poller.start();
        return () -> {
            ended.set(true);
            poller.join();
            end.close();
        };
    }

    /** What may fail. */
    interface Step {
        void run() throws Exception;
    }

    private static void orEnd(Step step, AutoCloseable end) throws Exception {
        try {
            step.run();
        } catch (Exception e) {
            end.close();
            throw e;
        }
    }

    /** A file of lines. */
    static final class Lines {
        private final OutputStream out;

        Lines(String path) throws IOException {
            out = new FileOutputStream(path, true);
        }

        void messages(List<MessageExt> messages, int takes) {
            for (MessageExt m : messages) {
                String body = new String(m.getBody(), StandardCharsets.US_ASCII);
                line(body.substring(0, body.indexOf(' ')) + " " + m.getBrokerName() + "/" + m.getQueueId() + " "
                    + m.getQueueOffset() + " " + m.getReconsumeTimes());
            }
            if (takes > 0 && !messages.isEmpty()) {
                LockSupport.parkNanos(takes * 1_000_000L);
            }
        }

        synchronized void line(String s) {
            try {
                out.write((s + "\n").getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
