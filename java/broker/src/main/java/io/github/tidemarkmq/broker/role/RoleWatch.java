package io.github.tidemarkmq.broker.role;

import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Role;
import io.github.tidemarkmq.broker.progress.StartRefused;
import io.github.tidemarkmq.broker.store.TailCheck;
import java.util.concurrent.TimeUnit;

/**
 * Follows the role of the broker. Whatever reports a change calls {@link #changed}, which returns when the demands of
 * the new role are met: a master has claimed its name, read what the cluster has, and lowered what its log does not
 * hold. In a controller group that is in ReplicasManager.changeToMaster, before the name servers hear of it.
 *
 * <p>One thread of its own, from {@link #beforeServing} to {@link #close}, does what nobody tells of: a master that was
 * elected again while it was cut off keeps its role, but another may have claimed meanwhile, which a newer epoch of the
 * group shows; a slave learns from its master which store it is, and that what its file had is in the cluster.
 */
public final class RoleWatch {
    private static final long LOOK_MILLIS = 1_000;
    /** How often a slave asks its master, once it knows what it needs. */
    private static final long ASK_MILLIS = 10_000;

    /** What is done with the broker's keys; each as in {@code progress.Progress}. */
    public interface Keys {
        void promote(long epoch) throws StartRefused;

        void demote();

        boolean isOvertaken();

        /** Whether the cluster has been read in this role ({@code progress.Counters.clusterRead}). */
        boolean areRead();

        /** Whether what the broker's file had is in the cluster; a slave sends nothing before. */
        boolean areSettled();

        void masterHasRead(String clusterId);
    }

    /** The broker, as far as its role goes. */
    public interface Group {
        /** The epoch under which this broker was made the master; 0 outside of controller groups. */
        int epoch();

        /** Held while the group changes the broker's role. */
        Object lock();

        /** The address of a slave's master; null if it is not known. */
        String master();

        /** What a broker says of itself. Blocks for seconds at most. */
        MasterState stateOf(String address) throws Exception;
    }

    private final Keys keys;
    private final TailCheck tail;
    private final Group group;
    private final StoreIdentity store;
    private final Log log;
    private final Thread thread = new Thread(this::run, "tidemark-role");
    private volatile boolean closed;
    /** The master was not reached, which has been logged. Of the one thread alone. */
    private boolean silent;
    /** Changed under the monitor below. */
    private volatile Role role;

    // Under this object's monitor, taken after Group.lock.
    private int claimedEpoch;
    private boolean serving;
    /** Offsets are still to be checked: what could not be lowered, and what has yet to be read from the cluster. */
    private boolean tailDue;

    /** @param role in which the broker has read the cluster */
    public RoleWatch(Role role, Keys keys, TailCheck tail, Group group, StoreIdentity store, Log log) {
        this.role = role;
        this.keys = keys;
        this.tail = tail;
        this.group = group;
        this.store = store;
        this.log = log;
        thread.setDaemon(true);
    }

    /** Ends its thread, and waits for it. */
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The role, once what it demands is done. Never blocks. */
    public Role role() {
        return role;
    }

    /**
     * The store has started, and nothing is served yet: a broker that is the master by its configuration looks for a
     * lost tail of its log.
     *
     * @throws StartRefused the start ends
     */
    public synchronized void beforeServing() throws StartRefused {
        if (role == Role.MASTER && claimedEpoch == 0) {
            tail.atStart();
            tailDue = !keys.areRead();
        }
        serving = true;
        thread.start();
    }

    /**
     * The broker has this role now. Blocks until that is so here too, or for a minute if the cluster does not answer.
     *
     * @throws StartRefused it must not be the master
     */
    public synchronized void changed(Role now) throws StartRefused {
        if (now == role) {
            return;
        }
        if (now == Role.SLAVE) {
            role = now;
            tailDue = false;
            keys.demote();
            log.info("This broker is a slave now: it claims and lowers nothing.");
        } else {
            promote();
        }
    }

    private void promote() throws StartRefused {
        int epoch = group.epoch();
        keys.promote(epoch);
        role = Role.MASTER;
        claimedEpoch = epoch;
        log.info("This broker is the master now" + (epoch == 0 ? "." : ", of epoch " + epoch + "."));
        tailDue = !keys.areRead();
        if (!serving) {
            tail.atStart();
        } else if (!tailDue) {
            lowerTail(tail::atPromotion);
        }
    }

    private interface Check {
        void run() throws StartRefused;
    }

    /** A master that serves already continues; what can't be lowered now is lowered later. */
    private void lowerTail(Check check) {
        try {
            tailDue = false;
            check.run();
        } catch (StartRefused e) {
            tailDue = true;
            log.error("It is tried again: " + e.getMessage(), e);
        }
    }

    private void run() {
        long askedMillis = Long.MIN_VALUE;
        while (!closed) {
            try {
                Thread.sleep(LOOK_MILLIS);
                look();
                long now = TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
                if (now >= askedMillis + ASK_MILLIS || !knowsAll()) {
                    askedMillis = now;
                    askMaster();
                }
            } catch (InterruptedException e) {
                return; // close
            } catch (StartRefused e) {
                log.error("This broker keeps the role of the master in its group, but commits of its consumers stay in"
                    + " its memory: " + e.getMessage(), e);
            } catch (RuntimeException | Error e) {
                log.error("Looking after the role of this broker failed; it is tried again.", e);
            }
        }
    }

    /**
     * Claims again for a master whose epoch has moved, or after whom one of an earlier epoch has claimed, which had not
     * heard of it; and ends what a promotion could not.
     */
    void look() throws StartRefused {
        boolean overtaken = role == Role.MASTER && keys.isOvertaken(); // not under a lock: it asks the cluster
        synchronized (group.lock()) {
            synchronized (this) {
                if (role != Role.MASTER) {
                    return;
                }
                if (claimedEpoch != 0 && (overtaken || group.epoch() != claimedEpoch)) {
                    promote();
                } else if (tailDue && keys.areRead()) {
                    lowerTail(tail::again);
                }
            }
        }
    }

    private boolean knowsAll() {
        return !store.known().isEmpty() && keys.areSettled();
    }

    /** Which store this slave holds, and whether its master has brought in what there was. */
    void askMaster() { // not under a lock: it asks another broker
        String master = group.master();
        if (role() == Role.MASTER || master == null) {
            return;
        }
        try {
            MasterState state = group.stateOf(master);
            if (store.adopt(state.store)) {
                log.info("This slave holds the store " + store.known() + ", as its master at " + master + " does.");
            }
            if (!state.readCluster.isEmpty() && !keys.areSettled()) {
                keys.masterHasRead(state.readCluster);
            }
            silent = false;
        } catch (Exception e) {
            if (store.known().isEmpty() && !silent) {
                silent = true;
                log.warn("The master at " + master + " did not tell which store this slave holds; it is asked again: " + e);
            }
        }
    }
}
