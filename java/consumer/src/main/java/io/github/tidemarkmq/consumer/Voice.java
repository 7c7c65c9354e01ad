package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.TidemarkException;
import java.util.HashMap;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Reports to the log (java.util.logging, {@code io.github.tidemarkmq.consumer}) and the listener what a store does. A
 * condition that lasts is reported once, and again when it changes; so is its end.
 */
final class Voice {
    private static final Logger LOG = Logger.getLogger("io.github.tidemarkmq.consumer");

    private final StoreListener listener;
    /** What was said last of each kind; guarded by itself. */
    private final Map<String, String> said = new HashMap<>();

    Voice(StoreListener listener) {
        this.listener = listener;
    }

    void warn(String text, Throwable cause) {
        LOG.log(Level.WARNING, text, cause);
    }

    /** Reports a condition that lasts. */
    void goesOn(String kind, String text) {
        goesOn(kind, text, text);
    }

    /** Reports a condition with its failure, which is another one if its code is; null: it has ended. */
    void goesOn(String kind, TidemarkException failure) {
        if (failure == null) {
            ended(kind);
        } else {
            goesOn(kind, failure.code().toString(), failure.getMessage());
        }
    }

    /** Reports a condition; what: by which it counts as the same, or as another. */
    void goesOn(String kind, String what, String text) {
        synchronized (said) {
            if (what.equals(said.put(kind, what))) {
                return;
            }
        }
        LOG.warning(kind + ": " + text);
    }

    /** Reports that a condition, if there was one, has ended. */
    void ended(String kind) {
        synchronized (said) {
            if (said.remove(kind) == null) {
                return;
            }
        }
        LOG.info(kind + ": no more");
    }

    void fenced(Fence fence) {
        LOG.warning(fence + "; it continues from what the cluster has");
        guarded(() -> listener.fenced(fence));
    }

    void moved(MessageQueue mq) {
        LOG.info(mq + " begins again at what the cluster has");
        guarded(() -> listener.moved(mq));
    }

    void persisted(MessageQueue mq, long offset) {
        guarded(() -> listener.persisted(mq, offset));
    }

    void dropped(MessageQueue mq, long offset, String why) {
        LOG.warning("offset " + offset + " of " + mq + " is not persisted and will not be: " + why);
        guarded(() -> listener.dropped(mq, offset, why));
    }

    private void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) { // the thread is the store's, and has more to do
            warn("a listener of the offset store failed", e);
        }
    }
}
