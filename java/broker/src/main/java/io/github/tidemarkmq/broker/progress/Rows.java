package io.github.tidemarkmq.broker.progress;

/** Takes offsets one by one. */
public interface Rows {
    void row(String topic, String group, int queue, long offset);
}
