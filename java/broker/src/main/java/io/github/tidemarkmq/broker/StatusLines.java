package io.github.tidemarkmq.broker;

import io.github.tidemarkmq.broker.manager.Guard;
import io.github.tidemarkmq.broker.progress.Counters;
import io.github.tidemarkmq.broker.progress.Progress;
import io.github.tidemarkmq.broker.role.StoreIdentity;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** How things stand, for {@code mqadmin brokerStatus} and the broker's log. Any thread. */
final class StatusLines implements Supplier<Map<String, String>> {
    private final Progress progress;
    private final Guard guard;
    private final StoreIdentity store;

    /** @param guard null unless guard mode is on */
    StatusLines(Progress progress, Guard guard, StoreIdentity store) {
        this.progress = progress;
        this.guard = guard;
        this.store = store;
    }

    @Override
    public Map<String, String> get() {
        Counters c = progress.counters();
        Map<String, String> lines = new LinkedHashMap<>();
        lines.put("tidemarkClusterReachable", String.valueOf(c.clusterReachable));
        lines.put("tidemarkClusterRead", String.valueOf(c.clusterRead));
        lines.put("tidemarkCluster", c.clusterId);
        lines.put("tidemarkRole", c.role.name());
        lines.put(StoreIdentity.LINE, store.known());
        lines.put("tidemarkClaim", String.valueOf(c.claim));
        lines.put("tidemarkKeys", String.valueOf(c.keys));
        lines.put("tidemarkMarked", String.valueOf(c.marked));
        lines.put("tidemarkInFlight", String.valueOf(c.inFlight));
        lines.put("tidemarkWaiting", String.valueOf(c.waiting));
        lines.put("tidemarkAcknowledged", String.valueOf(c.acknowledged));
        lines.put("tidemarkLastAcknowledged", c.lastAcknowledgedMillis == 0 ? "never"
            : Instant.ofEpochMilli(c.lastAcknowledgedMillis) + " at index " + c.lastAcknowledgedIndex);
        lines.put("tidemarkFenced", String.valueOf(c.fenced));
        lines.put("tidemarkLowered", String.valueOf(c.lowered));
        lines.put("tidemarkGuarded", guard == null ? "off" : String.valueOf(guard.refused()));
        lines.put("tidemarkClosed", String.valueOf(c.closed));
        lines.put("tidemarkLost", String.valueOf(c.lost));
        lines.put("tidemarkDropped", String.valueOf(c.dropped));
        lines.put("tidemarkResetsAssigned", String.valueOf(c.resetsAssigned));
        lines.put("tidemarkResetsOpen", String.valueOf(c.resetsOpen));
        return lines;
    }
}
