package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Commit;
import io.github.tidemarkmq.client.CommitAnswer;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.SetRefusedException;
import io.github.tidemarkmq.client.SetRequest;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The values that a broker had not sent when it stopped, out of the mark in its file. They go out before the name is
 * claimed, with the epochs that they had, or not at all: what was moved since fences them.
 */
final class Leftovers {
    /** Kept below the cluster's 512 KiB of an entry, whatever the names. */
    private static final int BATCH = 500;

    private final Cluster cluster;
    private final Options options;
    private final Log lines;

    Leftovers(Cluster cluster, Options options, Log lines) {
        this.cluster = cluster;
        this.options = options;
        this.lines = lines;
    }

    /** Sends them; a slave only what raises. Again, after a start that was cut down, changes nothing. */
    void send(Mark mark, String clusterId, boolean master, Deadline deadline) throws TidemarkException {
        List<Mark.Unsent> unsent = isOurs(mark, clusterId) ? mark.toSend() : Collections.emptyList();
        if (unsent.isEmpty()) {
            return;
        }
        List<Commit> raise = new ArrayList<>();
        int taken = 0;
        for (Mark.Unsent u : unsent) {
            if (u.offset > u.acked) {
                raise.add(new Commit(OffsetKeys.of(u.key, options.broker), u.offset, u.epoch));
            } else if (u.offset < u.acked && master) {
                taken += lower(u, clusterId, deadline) ? 1 : 0;
            }
        }
        for (int from = 0; from < raise.size(); from += BATCH) {
            CommitAnswer a = cluster.commit(clusterId, raise.subList(from, Math.min(raise.size(), from + BATCH)),
                deadline);
            taken += a.size() - a.refusals().size();
        }
        lines.info("tidemark: of " + unsent.size() + " offsets that had not been sent at the last stop, " + taken
            + " were taken by the cluster; the others have been moved since");
    }

    /** Whether a mark is this broker's, of this cluster. */
    boolean isOurs(Mark mark, String clusterId) {
        return mark != null && !mark.alone && mark.clusterId.equals(clusterId) && mark.broker.equals(options.broker);
    }

    private boolean lower(Mark.Unsent u, String clusterId, Deadline deadline) throws TidemarkException {
        try {
            cluster.set(SetRequest.replacing(OffsetKeys.of(u.key, options.broker), clusterId, u.epoch, u.acked,
                u.offset), deadline);
            return true;
        } catch (SetRefusedException e) {
            return false;
        }
    }
}
