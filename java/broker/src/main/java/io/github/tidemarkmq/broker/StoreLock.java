package io.github.tidemarkmq.broker;

import io.github.tidemarkmq.broker.progress.StartRefused;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Whether a broker runs on a store already. The broker itself finds that out when it opens the store
 * (DefaultMessageStore locks its file "lock"), after our start has claimed the name and so fenced the one that runs.
 */
final class StoreLock {
    private StoreLock() {
    }

    static void check(Path store) throws StartRefused {
        Path file = store.resolve("lock");
        if (!Files.exists(file)) {
            return;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
            FileLock lock = channel.tryLock()) {
            if (lock == null) {
                throw new StartRefused("a broker runs on " + store + " already: stop that first, or give this one a"
                    + " storePathRootDir of its own");
            }
        } catch (IOException e) {
            throw new StartRefused(file + " cannot be opened (" + e + "): the broker's user must be able to write"
                + " to its store", e);
        }
    }
}
