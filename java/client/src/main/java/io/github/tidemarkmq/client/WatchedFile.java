package io.github.tidemarkmq.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.TimeUnit;

/** A small text file that may be replaced while we run. It is not looked at again before some time has passed. */
final class WatchedFile {
    private static final int MAX_BYTES = 1 << 20;

    private final Path path;
    private final long lookNanos;
    private String stamp = ""; // guarded by this: time and size when it was read
    private long looked; // guarded by this

    WatchedFile(String path, long lookMillis) throws TidemarkException {
        this.lookNanos = TimeUnit.MILLISECONDS.toNanos(lookMillis);
        try {
            this.path = Paths.get(path);
        } catch (InvalidPathException e) {
            throw new TidemarkException(Code.INVALID, Names.quoted(path) + " is not the path of a file", e);
        }
    }

    /** Reads it, and notes which version that was. */
    synchronized String text() throws TidemarkException {
        try {
            looked = System.nanoTime();
            stamp = stampNow();
            if (Files.size(path) > MAX_BYTES) {
                throw new TidemarkException(Code.INVALID, path + " has more than " + MAX_BYTES + " bytes");
            }
            return new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new TidemarkException(Code.INVALID, path + " cannot be read: " + e, e);
        }
    }

    /** Whether there is another version than the one that was read. */
    synchronized boolean changed() {
        if (System.nanoTime() - looked < lookNanos) {
            return false;
        }
        looked = System.nanoTime();
        try {
            return !stampNow().equals(stamp);
        } catch (IOException e) {
            return false; // it is being replaced, or gone: what was read stays in use
        }
    }

    /** What was read cannot be used: the file counts as changed the next time. */
    synchronized void again() {
        stamp = "";
    }

    private String stampNow() throws IOException {
        return Files.getLastModifiedTime(path) + " " + Files.size(path);
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
