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
    void check(Holder us, Deadline deadline) throws StartRefused, TidemarkException {
        ClaimAnswer a = newest(deadline);
        if (a.index() == 0 || us.isStoreOf(Holder.of(a.holder()))) {
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
     * Whether a master of an earlier epoch of this broker's group has claimed the name after it.
     *
     * @throws TidemarkException it can't be said now
     */
    boolean isOvertaken(Holder us, Deadline deadline) throws TidemarkException {
        ClaimAnswer a = cluster.claimOfBroker(options.broker, ReadAt.LINEARIZABLE, deadline);
        return a.index() > 0 && us.isAfter(Holder.of(a.holder()));
    }

    /**
     * Claims the name, again with a new base whenever somebody else was faster; never over a master of a later epoch
     * of its group, which the controllers have announced before they tell this one.
     *
     * @param wanted whether this broker is the master still: another may have been made it meanwhile, and have claimed
     * @return index and cluster of the claim
     * @throws TidemarkException the cluster did not answer in time, or refuses for good
     */
    Claim take(Holder us, BooleanSupplier wanted, Deadline deadline) throws TidemarkException {
        for (;;) {
            Meta base = look(deadline).meta();
            refuseOver(us, deadline); // who claims after this look is after the base: then ours is not taken
            if (!wanted.getAsBoolean()) {
                throw new TidemarkException(Code.SUPERSEDED, "this broker is the master no more, and claims nothing");
            }
            try {
                ActAnswer a = claim(us, ActHeader.after(base), deadline);
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

    private void refuseOver(Holder us, Deadline deadline) throws TidemarkException {
        Holder newest = us.epoch == 0 || options.takeOver ? us
            : Holder.of(cluster.claimOfBroker(options.broker, ReadAt.LINEARIZABLE, deadline).holder());
        if (newest.isAfter(us)) {
            throw new TidemarkException(Code.SUPERSEDED, "the master of epoch " + newest.epoch + " has claimed"
                + " broker \"" + options.broker + "\", and this one is of epoch " + us.epoch + ": it waits for the word of its"
                + " controller. If the controllers have begun to count anew, start it once with"
                + " tidemarkOtherHolder=replace");
        }
    }

    /** The same act, however often it takes: its outcome is known in the end, or the deadline has passed. */
    private ActAnswer claim(Holder us, ActHeader act, Deadline deadline) throws TidemarkException {
        for (;;) {
            try {
                return cluster.claimBroker(act, options.broker, us.toString(), deadline);
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
