package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.OffsetKey;

/** Between this broker's keys and the cluster's, which name the broker too. */
final class OffsetKeys {
    private OffsetKeys() {
    }

    static OffsetKey of(KeyProgress k, String broker) {
        return new OffsetKey(k.of.group, k.of.topic, broker, k.queue);
    }

    static OffsetKey of(Key k, String broker) {
        return new OffsetKey(k.group(), k.topic(), broker, k.queue());
    }

    static Key key(OffsetKey k) {
        return new Key(k.topic(), k.group(), k.queueId());
    }
}
