package io.github.tidemarkmq.broker.manager;

import io.github.tidemarkmq.broker.progress.Mark;
import io.github.tidemarkmq.broker.progress.Rows;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The text of the broker's consumerOffset.json and of its answer to 43, as RocketMQ's ConsumerOffsetManager writes and
 * reads it: queue ids are bare numbers. It leaves out groupTopicMap and pullOffsetTable, which nobody reads, and the
 * second of which stops a slave 5.5.0 from taking over any offset (its fastjson2 reads no bare keys in a field that it
 * does not know).
 */
final class OffsetText implements Rows {
    private final Map<String, Map<Integer, Long>> table = new HashMap<>();
    private String lastTopic;
    private String lastGroup;
    private Map<Integer, Long> last;

    @Override
    public void row(String topic, String group, int queue, long offset) {
        if (!topic.equals(lastTopic) || !group.equals(lastGroup)) {
            lastTopic = topic;
            lastGroup = group;
            last = table.computeIfAbsent(topic + "@" + group, k -> new TreeMap<>());
        }
        last.put(queue, offset);
    }

    /** Adds rows as the broker's table has them. */
    void rows(Map<String, ? extends Map<Integer, Long>> own) {
        own.forEach((topicAtGroup, queues) -> table.computeIfAbsent(topicAtGroup, k -> new TreeMap<>()).putAll(queues));
    }

    /**
     * @param dataVersion JSON; empty for none
     * @param mark        null for none
     */
    String json(String dataVersion, Mark mark) {
        StringBuilder b = new StringBuilder(64 + 48 * table.size()).append('{');
        if (!dataVersion.isEmpty()) {
            b.append("\n\"dataVersion\":").append(dataVersion).append(',');
        }
        b.append("\n\"offsetTable\":{");
        String comma = "\n";
        for (Map.Entry<String, Map<Integer, Long>> key : table.entrySet()) {
            quote(b.append(comma), key.getKey());
            comma = ",\n";
            queues(b.append(':'), key.getValue());
        }
        b.append("\n}");
        if (mark != null) {
            b.append(",\n\"").append(Mark.FIELD).append("\":").append(mark.json());
        }
        return b.append("\n}\n").toString();
    }

    private static void queues(StringBuilder b, Map<Integer, Long> queues) {
        char before = '{';
        for (Map.Entry<Integer, Long> q : queues.entrySet()) {
            b.append(before).append(q.getKey()).append(':').append(q.getValue());
            before = ',';
        }
        b.append(queues.isEmpty() ? "{}" : "}");
    }

    /** A JSON string. */
    static void quote(StringBuilder b, String s) {
        b.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < 0x20) {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        b.append('"');
    }
}
