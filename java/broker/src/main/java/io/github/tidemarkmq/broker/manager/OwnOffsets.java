package io.github.tidemarkmq.broker.manager;

import io.github.tidemarkmq.broker.progress.Key;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The table of the groups that the broker owns itself (CID_RMQ_SYS_: POP's revive, transactions): topic@group to queue
 * to offset, as the broker's own table. They stay in the broker's file. Others do not get in, so that what
 * SlaveSynchronize and BrokerPreOnlineService put here of another broker's table brings only these.
 */
final class OwnOffsets extends ConcurrentHashMap<String, ConcurrentMap<Integer, Long>> {
    private static final long serialVersionUID = 1L;

    /** The own groups of a table. */
    static OwnOffsets of(Map<String, ConcurrentMap<Integer, Long>> table) {
        OwnOffsets own = new OwnOffsets();
        own.putAll(table);
        return own;
    }

    private static boolean isOwn(String topicAtGroup) {
        int at = topicAtGroup.lastIndexOf('@');
        return at >= 0 && Key.ofBroker(topicAtGroup.substring(at + 1));
    }

    @Override
    public ConcurrentMap<Integer, Long> put(String topicAtGroup, ConcurrentMap<Integer, Long> queues) {
        return isOwn(topicAtGroup) ? super.put(topicAtGroup, queues) : null;
    }

    @Override
    public ConcurrentMap<Integer, Long> putIfAbsent(String topicAtGroup, ConcurrentMap<Integer, Long> queues) {
        return isOwn(topicAtGroup) ? super.putIfAbsent(topicAtGroup, queues) : null;
    }

    @Override
    public void putAll(Map<? extends String, ? extends ConcurrentMap<Integer, Long>> table) {
        table.forEach(this::put);
    }

    @Override
    public ConcurrentMap<Integer, Long> computeIfAbsent(String topicAtGroup,
        Function<? super String, ? extends ConcurrentMap<Integer, Long>> queues) {
        return isOwn(topicAtGroup) ? super.computeIfAbsent(topicAtGroup, queues) : new ConcurrentHashMap<>();
    }

    void commit(String topicAtGroup, int queue, long offset) {
        computeIfAbsent(topicAtGroup, k -> new ConcurrentHashMap<>()).put(queue, offset);
    }

    /** -1 for none, as the broker has it. */
    long query(String topicAtGroup, int queue) {
        Map<Integer, Long> queues = get(topicAtGroup);
        Long offset = queues == null ? null : queues.get(queue);
        return offset == null ? -1 : offset;
    }

    Set<String> topics(String group) {
        return names(key -> key.endsWith("@" + group), key -> key.substring(0, key.lastIndexOf('@')));
    }

    Set<String> groups(String topic) {
        return names(key -> key.startsWith(topic + "@"), key -> key.substring(key.lastIndexOf('@') + 1));
    }

    private Set<String> names(Predicate<String> which, Function<String, String> name) {
        return keySet().stream().filter(which).map(name).collect(Collectors.toSet());
    }
}
