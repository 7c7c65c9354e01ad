package io.github.tidemarkmq.broker.planted;

/** The mistakes of src/main, made where the system property tidemark.mistake names them. */
public final class Mistake {
    /** A two-way 15 is answered before the cluster has its value. */
    public static final boolean ANSWERED_EARLY = told("answered-early");
    /** A value is sent before the log that it rests on is flushed, as POP's behind its checkpoint. */
    public static final boolean LOG_NOT_AWAITED = told("log-not-awaited");
    /** Requests of one connection overtake one another: an old value comes after a newer one. */
    public static final boolean ORDER_LOST = told("order-lost");
    /** The commit on the back of the pull that took a reset counts as following it, and undoes it. */
    public static final boolean RESET_UNDONE = told("reset-undone");
    /** A broker starts on an empty table, without reading its keys. */
    public static final boolean TABLE_NOT_READ = told("table-not-read");
    /** A master does not see that another has claimed its name, and goes on with the newer epoch. */
    public static final boolean CLAIM_IGNORED = told("claim-ignored");

    private Mistake() {
    }

    private static boolean told(String name) {
        return name.equals(System.getProperty("tidemark.mistake"));
    }
}
