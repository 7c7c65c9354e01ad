package io.github.tidemarkmq.broker.store;

import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.StartRefused;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Offsets beyond the end of their queue: the log has lost its tail, to a power cut or to a failover, and new messages
 * get the offsets of the lost ones, so that a consumer that continues where it was skips them. They are to be lowered
 * to the end. But where more than one queue in a hundred is concerned, the disk may not be the one that the offsets
 * belong to: then nobody but the operator can tell.
 *
 * <p>Add every offset, then ask. Not safe for use by several threads.
 */
final class LostTail {
    private static final int ONE_IN = 100;

    private final QueueEnds ends;
    private final Map<Key, Long> beyond = new LinkedHashMap<>();
    private final Map<Key, Long> missing = new LinkedHashMap<>();
    /** By queue; the keys have no group. */
    private final Map<Key, OptionalLong> known = new HashMap<>();
    private final Set<Key> shortQueues = new HashSet<>();
    private final Set<Key> missingQueues = new HashSet<>();
    private long furthest;
    private Key example;

    LostTail(QueueEnds ends) {
        this.ends = ends;
    }

    /** An offset that is stored. */
    void add(String topic, String group, int queue, long offset) {
        Key where = new Key(topic, "", queue);
        OptionalLong end = known.computeIfAbsent(where, w -> ends.end(topic, queue));
        if (offset <= end.orElse(0)) {
            return;
        }
        Key key = new Key(topic, group, queue);
        if (!end.isPresent()) {
            missing.put(key, 0L);
            missingQueues.add(where);
            return;
        }
        beyond.put(key, end.getAsLong());
        shortQueues.add(where);
        if (example == null || offset - end.getAsLong() > furthest) {
            furthest = offset - end.getAsLong();
            example = key;
        }
    }

    /**
     * What has to be lowered, and to where: offsets of queues that are there.
     *
     * @throws StartRefused it looks like a wrong disk
     */
    Map<Key, Long> lowered() throws StartRefused {
        int there = known.size() - missingQueues.size();
        if (ends.empty() && beyond.size() + missing.size() > 0) {
            throw refusal("The message store is empty, but " + (beyond.size() + missing.size())
                + " offsets are stored that are beyond 0");
        }
        if (missingQueues.size() > there) {
            throw refusal("The broker has only " + there + " of the " + known.size() + " queues with stored offsets");
        }
        if (shortQueues.size() * ONE_IN > there) {
            throw refusal("Of " + there + " queues with stored offsets, " + shortQueues.size()
                + " end before one; the furthest is " + example + ", by " + furthest + " messages");
        }
        return beyond;
    }

    /** The same without that doubt: a queue that is not there any more restarts, so its offsets are lowered to 0. */
    Map<Key, Long> allLowered() {
        Map<Key, Long> all = new LinkedHashMap<>(beyond);
        all.putAll(missing);
        return all;
    }

    private static StartRefused refusal(String found) {
        return new StartRefused(found + ". That is more than a lost tail of the log: see whether the right disk is"
            + " mounted at storePathRootDir and storePathCommitLog. If the messages are gone for good, start once with"
            + " tidemarkLostLog=lower: then the offsets go back to where their queues end, and nothing new is skipped");
    }
}
