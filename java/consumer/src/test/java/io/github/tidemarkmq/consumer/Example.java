package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.ClientOptions;
import io.github.tidemarkmq.client.TidemarkClient;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;

/** A whole push consumer with its offsets in Tidemark, as README.md shows it: name servers, nodes, group, topic. */
public final class Example {
    private Example() {
    }

    public static void main(String[] args) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(args[2]);
        consumer.setNamesrvAddr(args[0]);
        consumer.subscribe(args[3], "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(m -> System.out.println(m.getQueueId() + " " + m.getQueueOffset()));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });

        TidemarkClient cluster = TidemarkClient.open(ClientOptions.seeds(args[1].split(",")).build());
        TidemarkOffsetStore store = TidemarkOffsetStore.install(consumer, cluster);
        consumer.start();

        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.shutdown(); // persists what was consumed
            store.close();       // and what is left, and names what could not be
            cluster.close();
        }));
    }
}
