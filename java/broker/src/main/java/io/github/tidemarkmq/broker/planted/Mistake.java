package io.github.tidemarkmq.broker.planted;

/**
 * Known mistakes, one of which a build of its own makes where it is told to: then a proof has to fail. Here each is a
 * constant false, so the compiler leaves its code out; the jar does not hold this class.
 */
public final class Mistake {
    /** A two-way 15 is answered before the cluster has its value. */
    public static final boolean ANSWERED_EARLY = false;
    /** A value is sent before the log that it rests on is flushed, as POP's after its checkpoint. */
    public static final boolean LOG_NOT_AWAITED = false;
    /** Requests of one connection overtake one another: an old value comes after a newer one. */
    public static final boolean ORDER_LOST = false;
    /** The commit on the back of the pull that took a reset counts as following it, and undoes it. */
    public static final boolean RESET_UNDONE = false;
    /** A broker starts on an empty table, without reading its keys. */
    public static final boolean TABLE_NOT_READ = false;
    /** A master does not see that another has claimed its name, and continues with the newer epoch. */
    public static final boolean CLAIM_IGNORED = false;

    private Mistake() {
    }
}
