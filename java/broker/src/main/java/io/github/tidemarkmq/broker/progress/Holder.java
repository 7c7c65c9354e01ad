package io.github.tidemarkmq.broker.progress;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who claims a broker's name: a store of a RocketMQ cluster and, in a controller group, the epoch under which it was
 * made the master. Brokers of one group hold the same store, so only the epoch distinguishes the master from one that
 * was the master before and has not heard of it. As text "cluster/store", with "#epoch" after it if there is one.
 * Immutable.
 */
final class Holder {
    private static final Pattern WITH_EPOCH = Pattern.compile("(.*)#([1-9][0-9]{0,17})", Pattern.DOTALL);

    /** RocketMQ cluster and identity of the store. */
    final String store;
    /** 0 for none: no controller has made it the master. */
    final long epoch;

    Holder(String store, long epoch) {
        this.store = store;
        this.epoch = epoch;
    }

    /** Of a claim's text. */
    static Holder of(String text) {
        Matcher m = WITH_EPOCH.matcher(text);
        return m.matches() ? new Holder(m.group(1), Long.parseLong(m.group(2))) : new Holder(text, 0);
    }

    /** Whether that one is of the same store, so that each may claim after the other. */
    boolean isStoreOf(Holder other) {
        return store.equals(other.store);
    }

    /** Whether this one was made the master after the other, by the controllers of their group. */
    boolean isAfter(Holder other) {
        return isStoreOf(other) && epoch > other.epoch;
    }

    @Override
    public String toString() {
        return epoch == 0 ? store : store + "#" + epoch;
    }
}
