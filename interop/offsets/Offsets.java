import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Base64;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.apache.rocketmq.broker.offset.ConsumerOffsetManager;
import org.apache.rocketmq.broker.offset.LmqConsumerOffsetManager;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.store.LocalFileOffsetStore;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Reads and writes offset files by RocketMQ's own classes: a broker's managers
 * and a broadcasting consumer's store. Each line on stdin is a command and its
 * arguments, parted by tabs; names are in base64, since they hold anything.
 *
 * <pre>
 * broker-load FILE             what a broker finds in its file, line by line: KEY:QUEUE:OFFSET
 * broker-persist FILE ENTRY... the file that a broker writes
 * broker-body FILE ENTRY...    the body of code 43
 * lmq-load, lmq-persist        the same of a broker with enableLmq; queue 0 of %LMQ% groups is in their table
 * local-load CLIENT GROUP      what a consumer finds: TOPIC:BROKER:QUEUE:OFFSET
 * local-persist CLIENT GROUP ENTRY...
 * </pre>
 *
 * A line "." ends what each command says.
 */
public final class Offsets {
    private static final PrintStream OUT = new PrintStream(System.out, true);

    public static void main(String[] args) throws Exception {
        System.setOut(System.err); // where RocketMQ logs
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line; (line = in.readLine()) != null; ) {
            run(line.split("\t", -1));
            OUT.println(".");
        }
        System.exit(0); // whatever threads the classes began
    }

    private static void run(String[] a) throws Exception {
        switch (a[0]) {
            case "broker-load": {
                Broker m = new Broker(a[1]);
                loaded(m.load(), a[1]);
                print(m.getOffsetTable());
                break;
            }
            case "broker-persist": {
                Broker m = new Broker(a[1]);
                fill(m.getOffsetTable(), a);
                m.persist();
                break;
            }
            case "broker-body": {
                Broker m = new Broker(a[1]);
                fill(m.getOffsetTable(), a);
                write(a[1], m.encode());
                break;
            }
            case "lmq-load": {
                Lmq m = new Lmq(a[1]);
                loaded(m.load(), a[1]);
                print(m.getOffsetTable());
                m.getLmqOffsetTable().forEach((key, offset) -> OUT.println(encode(key) + ":0:" + offset));
                break;
            }
            case "lmq-persist": {
                Lmq m = new Lmq(a[1]);
                for (int i = 2; i < a.length; i++) {
                    String[] e = a[i].split(":");
                    String[] key = decode(e[0]).split("@", 2);
                    if (key[1].startsWith("%LMQ%")) {
                        m.getLmqOffsetTable().put(decode(e[0]), Long.parseLong(e[2]));
                    } else {
                        put(m.getOffsetTable(), e);
                    }
                }
                m.persist();
                break;
            }
            case "local-load": {
                LocalFileOffsetStore s = store(a);
                s.load();
                s.cloneOffsetTable(null).forEach((mq, offset) -> OUT.println(
                    encode(mq.getTopic()) + ":" + encode(mq.getBrokerName()) + ":" + mq.getQueueId() + ":" + offset));
                break;
            }
            case "local-persist": {
                LocalFileOffsetStore s = store(a);
                s.load();
                Set<MessageQueue> all = new HashSet<>(s.cloneOffsetTable(null).keySet());
                for (int i = 3; i < a.length; i++) {
                    String[] e = a[i].split(":", -1);
                    MessageQueue mq = new MessageQueue(decode(e[0]), decode(e[1]), Integer.parseInt(e[2]));
                    s.updateOffset(mq, Long.parseLong(e[3]), false);
                    all.add(mq);
                }
                s.persistAll(all);
                break;
            }
            default:
                throw new IllegalArgumentException(a[0]);
        }
    }

    /** A broker's manager whose file is where we say. */
    private static final class Broker extends ConsumerOffsetManager {
        private final transient String path;

        Broker(String path) {
            this.path = path;
        }

        @Override
        public String configFilePath() {
            return path;
        }
    }

    /** That of a broker with enableLmq. */
    private static final class Lmq extends LmqConsumerOffsetManager {
        private final transient String path;

        Lmq(String path) {
            this.path = path;
        }

        @Override
        public String configFilePath() {
            return path;
        }
    }

    private static LocalFileOffsetStore store(String[] a) {
        return new LocalFileOffsetStore(new MQClientInstance(new ClientConfig(), 0, decode(a[1])), decode(a[2]));
    }

    private static void loaded(boolean ok, String path) {
        if (!ok) {
            throw new IllegalStateException("the broker would not start with " + path);
        }
    }

    private static void fill(ConcurrentMap<String, ConcurrentMap<Integer, Long>> table, String[] a) {
        for (int i = 2; i < a.length; i++) {
            put(table, a[i].split(":"));
        }
    }

    private static void put(ConcurrentMap<String, ConcurrentMap<Integer, Long>> table, String[] e) {
        table.computeIfAbsent(decode(e[0]), k -> new ConcurrentHashMap<>()).put(Integer.parseInt(e[1]), Long.parseLong(e[2]));
    }

    private static void print(Map<String, ConcurrentMap<Integer, Long>> table) {
        table.forEach((key, queues) -> queues.forEach((queue, offset) -> OUT.println(encode(key) + ":" + queue + ":" + offset)));
    }

    private static void write(String path, String text) throws IOException {
        Files.write(Paths.get(path), text.getBytes(StandardCharsets.UTF_8));
    }

    private static String encode(String s) {
        return Base64.getEncoder().encodeToString(s.getBytes(StandardCharsets.UTF_8));
    }

    private static String decode(String s) {
        return new String(Base64.getDecoder().decode(s), StandardCharsets.UTF_8);
    }
}
