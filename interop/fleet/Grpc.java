import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.PushConsumer;
import org.apache.rocketmq.client.apis.consumer.SimpleConsumer;
import org.apache.rocketmq.client.apis.message.MessageView;

/** RocketMQ's gRPC consumers, told by lines on stdin as those of Remoting are. */
public final class Grpc {
    private static final Map<String, List<AutoCloseable>> RUNNING = new HashMap<>();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] a = line.split("\t");
            switch (a[0]) {
                case "consume":
                    for (int i = 0; i < Integer.parseInt(a[4]); i++) {
                        RUNNING.computeIfAbsent(a[2], k -> new ArrayList<>()).add(consumer(args[0], a));
                    }
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

    private static AutoCloseable consumer(String proxy, String[] a) throws Exception {
        ClientConfiguration at = ClientConfiguration.newBuilder().setEndpoints(proxy).enableSsl(false)
            .setRequestTimeout(Duration.ofSeconds(30)).build(); // by default 3 s, also for its start on a loaded machine
        Map<String, FilterExpression> topics = Collections.singletonMap(a[3], FilterExpression.SUB_ALL);
        OutputStream out = new FileOutputStream(a[5], true);
        ClientServiceProvider provider = ClientServiceProvider.loadService();
        switch (a[1]) {
            case "grpc-push":
                PushConsumer push = provider.newPushConsumerBuilder().setClientConfiguration(at).setConsumerGroup(a[2])
                    .setSubscriptionExpressions(topics).setMessageListener(m -> {
                        consumed(out, m);
                        return ConsumeResult.SUCCESS;
                    }).build();
                return push;
            case "grpc-simple":
                SimpleConsumer simple = provider.newSimpleConsumerBuilder().setClientConfiguration(at).setConsumerGroup(a[2])
                    .setSubscriptionExpressions(topics).setAwaitDuration(Duration.ofSeconds(5)).build();
                return new Receiving(simple, out);
            default:
                throw new IllegalArgumentException(a[1]);
        }
    }

    /** Number, queue, offset (which this client does not tell), times delivered before. */
    private static void consumed(OutputStream out, MessageView m) {
        String body = StandardCharsets.US_ASCII.decode(m.getBody()).toString();
        String line = body.substring(0, body.indexOf(' ')) + " - 0 " + (m.getDeliveryAttempt() - 1) + "\n";
        synchronized (out) {
            try {
                out.write(line.getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** A simple consumer that receives and acknowledges until it is closed. */
    static final class Receiving extends Thread implements AutoCloseable {
        private final SimpleConsumer consumer;
        private final OutputStream out;
        private volatile boolean closed;

        Receiving(SimpleConsumer consumer, OutputStream out) {
            this.consumer = consumer;
            this.out = out;
            start();
        }

        @Override
        public void run() {
            while (!closed) {
                try {
                    for (MessageView m : consumer.receive(32, Duration.ofSeconds(15))) {
                        consumed(out, m);
                        consumer.ack(m);
                    }
                } catch (Exception e) {
                    System.err.println(e);
                }
            }
        }

        @Override
        public void close() throws Exception {
            closed = true;
            join();
            consumer.close();
        }
    }
}
