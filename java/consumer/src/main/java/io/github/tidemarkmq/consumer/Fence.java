package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.KeyState;
import java.util.OptionalLong;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Says that a queue is fenced: nothing more of it is sent and updates of it are ignored, until it is read again.
 * A store that was installed into a consumer sees to that itself.
 */
public final class Fence {
    /** Why a queue is fenced. */
    public enum Cause {
        /** An operator's act on the queue, or a change of the cluster, was missed. The operator's word stands. */
        MISSED_ACT,
        /** A commit came before the queue's own lowering, which is not done and never will be. */
        OVERTAKEN,
        /** The queue's own lowering may be done already, or later. */
        UNKNOWN,
        /** Progress came of a queue that was not read, as after a removal that its consumer did in between. */
        UNREAD
    }

    private final MessageQueue queue;
    private final Cause cause;
    private final long offset;
    private final KeyState state;

    Fence(MessageQueue queue, Cause cause, long offset, KeyState state) {
        this.queue = queue;
        this.cause = cause;
        this.offset = offset;
        this.state = state;
    }

    /** The queue. */
    public MessageQueue queue() {
        return queue;
    }

    /** Why. */
    public Cause cause() {
        return cause;
    }

    /** The progress that was in memory, which is no longer to be relied on; empty if there was none. */
    public OptionalLong offset() {
        return offset == QueueProgress.NONE ? OptionalLong.empty() : OptionalLong.of(offset);
    }

    /** The key as the answer had it; null if it did not have it. */
    public KeyState state() {
        return state;
    }

    @Override
    public String toString() {
        return queue + " is fenced: " + cause + ", progress " + (offset == QueueProgress.NONE ? "none" : offset)
            + (state == null ? "" : ", the cluster has " + state);
    }
}
