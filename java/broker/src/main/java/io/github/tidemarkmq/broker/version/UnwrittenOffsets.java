package io.github.tidemarkmq.broker.version;

import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.offset.ConsumerOffsetManager;

/**
 * What a 4.9 has in the place of its plain offset manager until ours is made: it writes nothing, so that a start that
 * ends meanwhile leaves the file with its mark.
 */
public final class UnwrittenOffsets extends ConsumerOffsetManager {
    UnwrittenOffsets(BrokerController controller) {
        super(controller);
    }

    @Override
    public void persist() {
    }
}
