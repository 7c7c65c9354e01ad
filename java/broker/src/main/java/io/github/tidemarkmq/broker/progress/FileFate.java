package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.KeyPage;
import io.github.tidemarkmq.client.Meta;

/** What becomes of the broker's file, given what the cluster has. */
enum FileFate {
    /** The cluster's keys are the broker's; of the file, only what its mark names as not sent. */
    FOLLOW,
    /** The cluster has none: the file is imported, whole. */
    IMPORT,
    /** The larger offset stays, key by key. */
    MERGE;

    /**
     * Decides.
     *
     * @param page a page of the broker's keys in the cluster
     * @throws StartRefused an operator has to say what is right
     */
    static FileFate of(OffsetFile file, KeyPage page, Options options) throws StartRefused {
        Mark mark = file.mark();
        String id = page.meta().clusterId();
        boolean none = page.states().isEmpty();
        if (mark != null && mark.broker.equals(options.broker) && !mark.importId.isEmpty() && mark.clusterId.equals(id)) {
            return IMPORT; // a start before was cut down: half way, or before it wrote its file
        }
        if (file.rows().isEmpty() && (mark == null || mark.unsent.isEmpty())) {
            return FOLLOW;
        }
        if (mark == null) {
            return none ? IMPORT : unmarked(file, options);
        }
        if (mark.alone && (mark.clusterId.isEmpty() || mark.clusterId.equals(id))) {
            return none ? IMPORT : MERGE;
        }
        if (!mark.clusterId.equals(id) || !mark.broker.equals(options.broker)) {
            return foreign(file, page, options);
        }
        boolean gone = none && file.rows().size() > mark.ofNewKeys();
        if (gone || page.meta().index() < mark.index) {
            return behind(file, page, options);
        }
        return FOLLOW;
    }

    private static FileFate unmarked(OffsetFile file, Options options) throws StartRefused {
        switch (options.unmarked) {
            case MERGE:
                return MERGE;
            case IGNORE:
                return FOLLOW;
            default:
                throw new StartRefused("The broker's file " + file.path() + " has no mark of Tidemark, but the cluster"
                    + " has offsets of broker \"" + options.broker + "\": the broker has run without Tidemark in"
                    + " between, or is another one of the same name. Set tidemarkUnmarkedFile=merge to keep the larger"
                    + " offset of each queue, or tidemarkUnmarkedFile=ignore to go on with the cluster's alone, and"
                    + " start again; take the line out afterwards.");
        }
    }

    private static FileFate foreign(OffsetFile file, KeyPage page, Options options) throws StartRefused {
        Mark mark = file.mark();
        switch (options.unmarked) {
            case MERGE:
                return page.states().isEmpty() ? IMPORT : MERGE;
            case IGNORE:
                return FOLLOW;
            default:
                throw new StartRefused("The broker's file " + file.path() + " was written for broker \"" + mark.broker
                    + "\" in cluster " + mark.clusterId + ", but this is broker \"" + options.broker
                    + "\", and tidemarkEndpoints leads to cluster " + page.meta().clusterId() + ". Correct the line that"
                    + " is wrong; or, if the broker has moved on purpose, set tidemarkUnmarkedFile=merge (the larger"
                    + " offset of each queue) or =ignore (the cluster's alone), and start again.");
        }
    }

    private static FileFate behind(OffsetFile file, KeyPage page, Options options) throws StartRefused {
        switch (options.unmarked) {
            case MERGE:
                return page.states().isEmpty() ? IMPORT : MERGE;
            case IGNORE:
                return FOLLOW;
            default:
                String what = page.states().isEmpty()
                    ? "has no offset of broker \"" + options.broker + "\", but its file has " + file.rows().size()
                    : "is at index " + page.meta().index() + ", but the broker has seen index " + file.mark().index;
                throw new StartRefused("The cluster " + page.meta().clusterId() + " " + what + ": the cluster has lost"
                    + " what it had, or everything was removed on purpose. Restore the cluster; or set"
                    + " tidemarkUnmarkedFile=merge to bring the offsets of " + file.path() + " in again, or"
                    + " tidemarkUnmarkedFile=ignore to go on without them, and start again.");
        }
    }

    /**
     * The index that the broker had followed to: what is newer was moved while it was away. 0 where the cluster's keys
     * are followed in spite of a mark of another cluster, of another name, or of later than the cluster is now:
     * whatever consumers hold, it does not rest on them. Without a mark nothing was moved except what is pending; nor
     * is anything closed whose larger offset is to stay.
     */
    long since(OffsetFile file, Meta cluster, String broker) {
        Mark m = file.mark();
        if (m == null || m.clusterId.isEmpty() || !m.importId.isEmpty()) {
            return Long.MAX_VALUE;
        }
        if (m.clusterId.equals(cluster.clusterId()) && m.broker.equals(broker) && m.index <= cluster.index()) {
            return m.index;
        }
        return this == FOLLOW ? 0 : Long.MAX_VALUE;
    }
}
