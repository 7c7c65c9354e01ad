package io.github.tidemarkmq.broker.version;

import io.netty.channel.Channel;
import java.lang.reflect.Field;
import org.apache.rocketmq.remoting.netty.RequestTask;

/** Whose request it is that the broker hands to a pool: RequestTask has the connection in a private field. */
public final class TaskChannel {
    private static final Field CHANNEL = field();

    private TaskChannel() {
    }

    private static Field field() {
        try {
            Field f = RequestTask.class.getDeclaredField("channel");
            f.setAccessible(true);
            return f;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("RequestTask of this broker is not what 4.9.7's and 5.5.0's are", e);
        }
    }

    /** The connection; null for what is no request. Any thread. */
    public static Channel of(Runnable task) {
        try {
            return task instanceof RequestTask ? (Channel) CHANNEL.get(task) : null;
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("it was made accessible", e);
        }
    }
}
