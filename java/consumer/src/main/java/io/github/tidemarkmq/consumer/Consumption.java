package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.TidemarkException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * The consumer that a store was installed into, as far as the store moves it. Only what all clients from 4.9.4 to
 * 5.5.0 have is used. Everything except {@link #again} and {@link #brokerOffset} returns at once.
 */
interface Consumption {
    /** The consumer's group with its namespace; known once the consumer starts. */
    String group();

    /** Whether it is broadcasting, and keeps its offsets itself. */
    boolean broadcasting();

    /** Whether the consumer has the queue now. */
    boolean has(MessageQueue mq);

    /** Whether it reads each queue before its first message, so that unread progress is an accident. */
    boolean readsFirst();

    /** Ends what the consumer does with a fenced queue: what it has in hand counts no more. */
    void stop(MessageQueue mq);

    /** A queue leaves the consumer's memory: what a pull of it brings late must not count, should it come back. */
    void left(MessageQueue mq);

    /**
     * Makes the consumer begin a fenced queue again, some time after {@link #stop}: whoever was about to report
     * progress then has done so meanwhile, and was ignored. May block for as long as the consumer holds its own locks.
     *
     * @return whether the consumer has nothing left of the old position; if not, or if it throws, it is called
     *     again a little later, unless the queue was removed meanwhile
     */
    boolean again(MessageQueue mq, Rereading rereading) throws MQClientException, TidemarkException;

    /** Has the consumer find out soon which queues it should have. */
    void rebalance();

    /**
     * What the queue's broker has; {@link QueueProgress#NONE}: it says that it has no offset. Blocks until about the
     * deadline ({@link BrokerOffsets#ask}).
     *
     * @throws TidemarkException it could not be asked, or answered with another error
     */
    long brokerOffset(MessageQueue mq, Deadline deadline) throws TidemarkException;

    /** How a consumer that does not read by itself begins a fenced queue again. */
    interface Rereading {
        /** What the cluster has; -1: certainly no offset. */
        long read() throws TidemarkException;

        /** Ends the fence with what was read last: progress under its epoch counts from now on. */
        void take();
    }
}
