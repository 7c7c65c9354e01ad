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

    /** The cluster's order: names by their UTF-8 bytes, which is that of their code points. */
    static int byBytes(OffsetKey a, OffsetKey b) {
        int c = byBytes(a.group(), b.group());
        c = c != 0 ? c : byBytes(a.topic(), b.topic());
        c = c != 0 ? c : byBytes(a.broker(), b.broker());
        return c != 0 ? c : Integer.compare(a.queueId(), b.queueId());
    }

    private static int byBytes(String a, String b) {
        int n = Math.min(a.length(), b.length());
        for (int i = 0; i < n; i++) {
            char x = a.charAt(i);
            char y = b.charAt(i);
            if (x != y) {
                boolean pairs = Character.isSurrogate(x) != Character.isSurrogate(y);
                return pairs ? (Character.isSurrogate(x) ? 1 : -1) : Character.compare(x, y);
            }
        }
        return Integer.compare(a.length(), b.length());
    }
}
