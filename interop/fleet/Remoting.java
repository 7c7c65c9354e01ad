import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * RocketMQ's own consumers and producer, unmodified and with default settings
 * but for the start of a new group, told by lines on stdin; interop/DESIGN.md
 * has the commands. What is consumed or acknowledged is a line in a file before
 * the client hears of it, written at once: kill -9 takes none back.
 */
public final class Remoting {
    private static final ConcurrentHashMap<String, List<AutoCloseable>> RUNNING = new ConcurrentHashMap<>();
    private static String names;

    public static void main(String[] args) throws Exception {
        names = args[0];
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] a = line.split("\t");
            switch (a[0]) {
                case "consume":
                    consume(a[1], a[2], a[3], Integer.parseInt(a[4]), new Record(a[5]));
                    break;
                case "produce":
                    produce(a[1], a[2], Integer.parseInt(a[3]), Integer.parseInt(a[4]), Integer.parseInt(a[5]), new Record(a[6]));
                    break;
                case "reread":
                    System.out.println(reread(a[1], a[2], a[3], Integer.parseInt(a[4]), Integer.parseInt(a[5])));
                    break;
                case "stop":
                    for (AutoCloseable c : RUNNING.remove(a[1])) {
                        c.close();
                    }
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
            System.out.println(".");
        }
        System.exit(0); // stdin has ended: the test is over, and waits for nothing
    }

    private static void running(String name, AutoCloseable c) {
        RUNNING.computeIfAbsent(name, k -> new ArrayList<>()).add(c);
    }

    // ---- consumers

    private static void consume(String kind, String group, String topic, int count, Record r) throws Exception {
        for (int i = 0; i < count; i++) {
            String instance = group + "-" + i;
            switch (kind) {
                case "push":
                case "orderly":
                case "pop":
                    push(kind, group, topic, instance, r);
                    break;
                case "lite":
                case "lite-assign":
                    lite(kind, group, topic, instance, i, count, r);
                    break;
                case "pull":
                    pull(group, topic, instance, i, count, r);
                    break;
                default:
                    throw new IllegalArgumentException(kind);
            }
        }
    }

    private static void push(String kind, String group, String topic, String instance, Record r) throws Exception {
        DefaultMQPushConsumer c = new DefaultMQPushConsumer(group);
        c.setNamesrvAddr(names);
        c.setInstanceName(instance);
        c.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        c.setConsumeThreadMin(4);
        c.setConsumeThreadMax(4);
        c.subscribe(topic, "*");
        if (kind.equals("orderly")) {
            c.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                r.consumed(messages);
                return ConsumeOrderlyStatus.SUCCESS;
            });
        } else {
            c.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                r.consumed(messages);
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        }
        if (kind.equals("pop")) { // not in 4.9
            DefaultMQPushConsumer.class.getMethod("setClientRebalance", boolean.class).invoke(c, false);
        }
        c.start();
        running(group, c::shutdown);
    }

    private static void lite(String kind, String group, String topic, String instance, int part, int parts, Record r) throws Exception {
        DefaultLitePullConsumer c = new DefaultLitePullConsumer(group);
        c.setNamesrvAddr(names);
        c.setInstanceName(instance);
        c.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        if (kind.equals("lite")) {
            c.subscribe(topic, "*");
            c.start();
        } else {
            c.start();
            c.assign(part(c.fetchMessageQueues(topic), part, parts));
        }
        running(group, new Loop(() -> r.consumed(c.poll(200)), c::shutdown));
    }

    /** A part of the queues: those of a consumer that shares nothing out by itself. */
    private static List<MessageQueue> part(Iterable<MessageQueue> all, int part, int parts) {
        List<MessageQueue> mine = new ArrayList<>();
        for (MessageQueue q : all) {
            if (q.getQueueId() % parts == part) {
                mine.add(q);
            }
        }
        return mine;
    }

    @SuppressWarnings("deprecation") // still there in 5.5.0, and still used
    private static void pull(String group, String topic, String instance, int part, int parts, Record r) throws Exception {
        DefaultMQPullConsumer c = new DefaultMQPullConsumer(group);
        c.setNamesrvAddr(names);
        c.setInstanceName(instance);
        c.start();
        Set<MessageQueue> mine = new HashSet<>(part(c.fetchSubscribeMessageQueues(topic), part, parts));
        running(group, new Loop(() -> {
            boolean idle = true;
            for (MessageQueue q : mine) {
                long at = c.fetchConsumeOffset(q, false);
                if (at < -1) {
                    continue; // the broker could not be asked
                }
                PullResult got = c.pull(q, "*", Math.max(at, 0), 32);
                if (got.getPullStatus() == PullStatus.FOUND) {
                    r.consumed(got.getMsgFoundList());
                    idle = false;
                }
                c.updateConsumeOffset(q, got.getNextBeginOffset());
            }
            c.getOffsetStore().persistAll(mine);
            if (idle) {
                Thread.sleep(100);
            }
        }, c::shutdown));
    }

    /** Commits one-way and reads at once what is stored, again and again; the number of reads that were too old. */
    @SuppressWarnings("deprecation")
    private static int reread(String group, String topic, String broker, int queue, int rounds) throws Exception {
        DefaultMQPullConsumer c = new DefaultMQPullConsumer(group);
        c.setNamesrvAddr(names);
        c.setInstanceName(group);
        c.start();
        c.fetchSubscribeMessageQueues(topic);
        MessageQueue q = new MessageQueue(topic, broker, queue);
        int stale = 0;
        for (int i = 1; i <= rounds; i++) {
            c.getOffsetStore().updateConsumeOffsetToBroker(q, i, true);
            if (c.getOffsetStore().readOffset(q, ReadOffsetType.READ_FROM_STORE) != i) {
                stale++;
            }
        }
        c.shutdown();
        return stale;
    }

    // ---- producer

    /** Sends numbered messages from some threads, at a rate for all of them together (0: as fast as it goes). */
    private static void produce(String name, String topic, int rate, int threads, int bytes, Record r) throws Exception {
        DefaultMQProducer p = new DefaultMQProducer(name);
        p.setNamesrvAddr(names);
        p.setInstanceName(name);
        p.setRetryTimesWhenSendFailed(0);
        p.start();
        AtomicInteger number = new AtomicInteger();
        List<AutoCloseable> loops = new ArrayList<>();
        long between = rate == 0 ? 0 : 1_000_000_000L * threads / rate;
        for (int i = 0; i < threads; i++) {
            long[] next = {System.nanoTime()};
            loops.add(new Loop(() -> {
                int n = number.getAndIncrement();
                SendResult s = p.send(new Message(topic, body(n, bytes)));
                if (s.getSendStatus() == SendStatus.SEND_OK) {
                    r.line(n + " " + s.getMessageQueue().getBrokerName() + "/" + s.getMessageQueue().getQueueId() + " " + s.getQueueOffset() + " 0");
                }
                if (between > 0) {
                    next[0] = Math.max(next[0] + between, System.nanoTime() - 10 * between); // no burst after a pause
                    LockSupport.parkNanos(next[0] - System.nanoTime());
                }
            }, () -> { }));
        }
        running(name, () -> {
            for (AutoCloseable l : loops) {
                l.close();
            }
            p.shutdown();
        });
    }

    /** The number, and behind a blank what makes it as long as wanted. */
    private static byte[] body(int n, int bytes) {
        StringBuilder b = new StringBuilder().append(n).append(' ');
        while (b.length() < bytes) {
            b.append('.');
        }
        return b.toString().getBytes(StandardCharsets.US_ASCII);
    }

    /** What a loop does again and again. */
    interface Step {
        void run() throws Exception;
    }

    /** A thread that repeats a step until it is closed; errors are told on stderr, and followed by a pause. */
    static final class Loop implements AutoCloseable {
        private final Thread thread;
        private final Step end;
        private volatile boolean closed;

        Loop(Step step, Step end) {
            this.end = end;
            thread = new Thread(() -> {
                while (!closed) {
                    try {
                        step.run();
                    } catch (Exception e) {
                        System.err.println(e);
                        LockSupport.parkNanos(50_000_000L);
                    }
                }
            });
            thread.start();
        }

        @Override
        public void close() throws Exception {
            closed = true;
            thread.join();
            end.run();
        }
    }

    /** A file of what was consumed, or acknowledged: number, queue, offset, times delivered before. */
    static final class Record {
        private final OutputStream out;

        Record(String path) throws IOException {
            out = new FileOutputStream(path, true);
        }

        void consumed(List<MessageExt> messages) {
            for (MessageExt m : messages) {
                String body = new String(m.getBody(), StandardCharsets.US_ASCII);
                line(body.substring(0, body.indexOf(' ')) + " " + m.getBrokerName() + "/" + m.getQueueId() + " " + m.getQueueOffset() + " " + m.getReconsumeTimes());
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
