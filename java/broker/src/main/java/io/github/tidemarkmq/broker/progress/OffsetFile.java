package io.github.tidemarkmq.broker.progress;

import java.nio.file.Path;

/** What a broker's consumerOffset.json holds: offsets, and the mark if there is one. */
public final class OffsetFile {
    private OffsetFile() {
    }

    /**
     * Reads the file; its .bak where the file is missing, which is how a crash leaves a broker of 5.4 and later
     * (ConfigManager.persist). A file that is not there is an empty one.
     *
     * @throws StartRefused it can't be read, or does not hold what it should; the sentence names the place
     */
    public static OffsetFile read(Path path) throws StartRefused {
        throw new UnsupportedOperationException("not there yet");
    }

    /** The offsets of the groups that are the broker's own ({@link Key#ofBroker}): they never go to the cluster. */
    public void own(Rows rows) {
        throw new UnsupportedOperationException("not there yet");
    }
}
