package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.ActAnswer;
import io.github.tidemarkmq.client.ActHeader;
import io.github.tidemarkmq.client.ActRefusedException;
import io.github.tidemarkmq.client.ClaimAnswer;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyFilter;
import io.github.tidemarkmq.client.KeyPage;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.function.BooleanSupplier;

/** The claim of a broker's name: who had it before is fenced, in one entry of the cluster's log. */
final class Claims {
    private final Cluster cluster;
    private final Options options;
    private final Log lines;

    Claims(Cluster cluster, Options options, Log lines) {
        this.cluster = cluster;
        this.options = options;
        this.lines = lines;
    }

    /** A linearizable read of the broker's first key, for its meta and for whether there is any. */
    KeyPage look(Deadline deadline) throws TidemarkException {
        return cluster.listKeys(KeyFilter.ALL.broker(options.broker), null, 1, ReadAt.LINEARIZABLE, deadline);
    }

    /** Refuses where another holder has the newest claim on the name, unless told to take it over. */
    void check(Deadline deadline) throws StartRefused, TidemarkException {
        ClaimAnswer a = newest(deadline);
        String us = options.holder.get();
        if (a.index() == 0 || a.holder().equals(us)) {
            return;
        }
        String them = "\"" + a.holder().replaceAll("\\p{Cntrl}", "?") + "\"";
        if (!options.takeOver) {
            throw new StartRefused("The broker name \"" + options.broker + "\" belongs to " + them + " in cluster "
                + a.meta().clusterId() + " (RocketMQ cluster/store), and this is \"" + us + "\": two brokers of one"
                + " name would undo each other's offsets. Give one of them another tidemarkBroker; or, if this one is"
                + " to take over from a store that is gone, set tidemarkOtherHolder=replace and start again.");
        }
        lines.warn("tidemark: the broker name \"" + options.broker + "\" is taken over from " + them
            + ", as tidemarkOtherHolder=replace says; take the line out now");
    }

    private ClaimAnswer newest(Deadline deadline) throws StartRefused, TidemarkException {
        try {
            return cluster.claimOfBroker(options.broker, ReadAt.LINEARIZABLE, deadline);
        } catch (TidemarkException e) {
            if (e.code() == Code.INVALID) {
                throw new StartRefused("The cluster does not know who holds a broker's name (" + e.getMessage()
                    + "): its nodes are older than this jar. Upgrade them, and start again.", e);
            }
            throw e;
        }
    }

    /**
     * Claims the name, again with a new base whenever somebody else was faster.
     *
     * @param wanted whether this broker is the master still: another may have been made it meanwhile, and have claimed
     * @return index and cluster of the claim
     * @throws TidemarkException the cluster did not answer in time, or refuses for good
     */
    Claim take(BooleanSupplier wanted, Deadline deadline) throws TidemarkException {
        for (;;) {
            Meta base = look(deadline).meta();
            if (!wanted.getAsBoolean()) {
                throw new TidemarkException(Code.SUPERSEDED, "this broker is the master no more, and claims nothing");
            }
            try {
                ActAnswer a = claim(ActHeader.after(base), deadline);
                lines.info("tidemark: the broker name \"" + options.broker + "\" is claimed at index " + a.index()
                    + " of cluster " + base.clusterId());
                return new Claim(base.clusterId(), a.index());
            } catch (ActRefusedException e) {
                if (e.code() != Code.SUPERSEDED && e.code() != Code.TOO_OLD || deadline.passed()) {
                    throw e;
                }
            }
        }
    }

    /** The same act, however often it takes: its outcome is known in the end, or the deadline has passed. */
    private ActAnswer claim(ActHeader act, Deadline deadline) throws TidemarkException {
        for (;;) {
            try {
                return cluster.claimBroker(act, options.broker, options.holder.get(), deadline);
            } catch (TidemarkException e) {
                if (!e.outcomeUnknown() || deadline.passed()) {
                    throw e;
                }
            }
        }
    }

    /** A claim that was taken. */
    static final class Claim {
        final String clusterId;
        final long index;

        Claim(String clusterId, long index) {
            this.clusterId = clusterId;
            this.index = index;
        }
    }
}
