package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Meta;

/**
 * What a store knows of the acts in the cluster, so that it learns of those on queues that it does not commit. The
 * monitor of the {@link ProgressTable} guards it.
 */
final class Acts {
    /** The last act that an answer named. */
    private String heardIn = "";
    private long heard;
    /** The act up to which all queues are known to have been looked at. */
    private String askedIn = "";
    private long asked;
    /** Counts the answers that were heard. */
    private long answers;

    /** Takes what an answer says. */
    void hear(Meta meta) {
        answers++;
        if (!meta.clusterId().equals(heardIn) || meta.lastAct() > heard) {
            heardIn = meta.clusterId();
            heard = meta.lastAct();
        }
    }

    /** The same for an answer that a queue was taken over from: older than what was asked about, it is asked again. */
    void took(Meta meta) {
        hear(meta);
        if (!meta.clusterId().equals(askedIn) || meta.lastAct() < asked) {
            forget();
        }
    }

    /** Everything has to be asked about again. */
    void forget() {
        askedIn = "";
        asked = 0;
    }

    /** Whether there was an act, or a change of the cluster, since all queues were looked at. */
    boolean pending() {
        return heard != asked || !heardIn.equals(askedIn);
    }

    /** Notes that all queues are being looked at now. */
    void asking() {
        askedIn = heardIn;
        asked = heard;
    }

    /** The last act that an answer named. */
    long heard() {
        return heard;
    }

    /** How many answers were heard. */
    long answers() {
        return answers;
    }
}
