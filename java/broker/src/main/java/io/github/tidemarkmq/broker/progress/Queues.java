package io.github.tidemarkmq.broker.progress;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The queues of one topic as one group consumes them. They share the names, which most of a key's memory would be. */
final class Queues {
    private static final int MAX_NAME = 255;
    private static final AtomicInteger COUNT = new AtomicInteger();

    final String topic;
    final String group;
    /** Orders requests, so that what shares names stands together. */
    final int number = COUNT.incrementAndGet();
    final ConcurrentHashMap<Integer, KeyProgress> byId = new ConcurrentHashMap<>(8);

    Queues(String topic, String group) {
        this.topic = topic;
        this.group = group;
    }

    boolean hasOffset() {
        for (KeyProgress k : byId.values()) {
            if (k.value != KeyProgress.NONE) {
                return true;
            }
        }
        return false;
    }

    /** Whether the cluster can hold a key of these names. */
    static boolean storable(Key key) {
        return key.queue() >= 0 && name(key.topic()) && name(key.group());
    }

    private static boolean name(String s) {
        if (s.isEmpty() || s.length() > MAX_NAME) {
            return false;
        }
        for (int i = 0; i < s.length(); i++) {
            if (Character.isISOControl(s.charAt(i)) || Character.isSurrogate(s.charAt(i)) && !paired(s, i)) {
                return false;
            }
        }
        return s.length() * 3 <= MAX_NAME || s.getBytes(StandardCharsets.UTF_8).length <= MAX_NAME;
    }

    private static boolean paired(String s, int i) {
        return Character.isHighSurrogate(s.charAt(i))
            ? i + 1 < s.length() && Character.isLowSurrogate(s.charAt(i + 1))
            : i > 0 && Character.isHighSurrogate(s.charAt(i - 1));
    }
}
