package io.github.tidemarkmq.consumer;

import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Is told what a store does, as is the log. The store's own threads call it, without a lock held; it must not block,
 * and what it throws is logged. By default nothing is done.
 */
public interface StoreListener {
    /** A queue is fenced; the consumer is about to be moved. */
    default void fenced(Fence fence) {
    }

    /** The consumer was moved: it drops what it had of the queue and begins again at what the cluster has. */
    default void moved(MessageQueue queue) {
    }

    /** An offset that changed is on the disk of a quorum. */
    default void persisted(MessageQueue queue, long offset) {
    }

    /**
     * An offset will not be persisted: its queue left the consumer and then turned out to be fenced, or the cluster
     * refused its offset, as over a limit or denied; or it was never read; or the store was closed before the cluster
     * could be asked. It may be consumed again. Or it was sent one way
     * ({@link TidemarkOffsetStore#updateConsumeOffsetToBroker}) and was not taken, or that is not known.
     *
     * @param why in words, for a log
     */
    default void dropped(MessageQueue queue, long offset, String why) {
    }
}
