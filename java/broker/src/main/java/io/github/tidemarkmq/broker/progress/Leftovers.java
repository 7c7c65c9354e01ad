package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Commit;
import io.github.tidemarkmq.client.CommitAnswer;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.ReadAt;
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

    /**
     * Sends them; a slave only what raises. Again, after a start that was cut down, changes nothing.
     *
     * @return those that the cluster refuses for a bound or a right, which must not hold the others back: they are to
     *     be merged. At a slave none of before the newest claim, which would fence it
     */
    List<Mark.Unsent> send(Mark mark, String clusterId, boolean master, Deadline deadline) throws TidemarkException {
        List<Mark.Unsent> unsent = isOurs(mark, clusterId) ? mark.toSend() : Collections.emptyList();
        List<Mark.Unsent> refused = new ArrayList<>();
        if (unsent.isEmpty()) {
            return refused;
        }
        List<Mark.Unsent> raise = new ArrayList<>();
        int taken = 0;
        for (Mark.Unsent u : unsent) {
            if (u.offset > u.acked) {
                raise.add(u);
            } else if (u.offset < u.acked && master) {
                taken += lower(u, clusterId, deadline) ? 1 : 0;
            }
        }
        for (int from = 0; from < raise.size(); from += BATCH) {
            taken += raise(raise.subList(from, Math.min(raise.size(), from + BATCH)), clusterId, refused, deadline);
        }
        if (!master && !refused.isEmpty()) {
            long claim = cluster.claimOfBroker(options.broker, ReadAt.LINEARIZABLE, deadline).index();
            refused.removeIf(u -> u.epoch < claim);
        }
        lines.info("tidemark: of " + unsent.size() + " offsets that had not been sent at the last stop, " + taken
            + " were taken by the cluster" + (refused.isEmpty() ? "" : ", and " + refused.size() + " are refused, wait,"
            + " and are sent again") + "; the others have been moved since");
        return refused;
    }

    /** Sends some in one request; halves it until the one to blame for a refusal is alone, as {@link Sender} does. */
    private int raise(List<Mark.Unsent> some, String clusterId, List<Mark.Unsent> refused, Deadline deadline)
        throws TidemarkException {
        try {
            CommitAnswer a = cluster.commit(clusterId, commits(some), deadline);
            return a.size() - a.refusals().size();
        } catch (TidemarkException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            if (some.size() == 1 || refused.size() >= Sender.MOST_BLAMED) {
                told(some, e);
                refused.addAll(some);
                return 0;
            }
        }
        int half = some.size() / 2;
        return raise(some.subList(0, half), clusterId, refused, deadline)
            + raise(some.subList(half, some.size()), clusterId, refused, deadline);
    }

    private List<Commit> commits(List<Mark.Unsent> some) {
        List<Commit> commits = new ArrayList<>(some.size());
        for (Mark.Unsent u : some) {
            commits.add(new Commit(OffsetKeys.of(u.key, options.broker), u.offset, u.epoch));
        }
        return commits;
    }

    private static boolean isRefusal(TidemarkException e) {
        return e.code() == Code.LIMIT || e.code() == Code.DENIED;
    }

    private void told(List<Mark.Unsent> some, TidemarkException e) {
        lines.warn("tidemark: the cluster refuses offset " + some.get(0).offset + " of " + some.get(0).key
            + (some.size() == 1 ? "" : " and " + (some.size() - 1) + " others") + " (" + e.code() + ": "
            + e.getMessage() + ")");
    }

    /** Whether a mark is this broker's, of this cluster. */
    boolean isOurs(Mark mark, String clusterId) {
        return mark != null && !mark.alone && mark.clusterId.equals(clusterId) && mark.broker.equals(options.broker);
    }

    /** One that is refused is given up: nobody was told that it is durable, and a merge lowers nothing. */
    private boolean lower(Mark.Unsent u, String clusterId, Deadline deadline) throws TidemarkException {
        try {
            cluster.set(SetRequest.replacing(OffsetKeys.of(u.key, options.broker), clusterId, u.epoch, u.acked,
                u.offset), deadline);
            return true;
        } catch (SetRefusedException e) {
            return false;
        } catch (TidemarkException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            told(Collections.singletonList(u), e);
            return false;
        }
    }
}
