package io.github.tidemarkmq.broker.role;

import io.github.tidemarkmq.broker.progress.StartRefused;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.regex.Pattern;

/**
 * Which store this is: an id in a file of the store, drawn once by its first master. It stands in the claim, so that a
 * broker of the same name with other messages is distinguished from this one. A slave has its master's, since it holds
 * the same log, so that it is the same holder when it is promoted. A copy of a store has its id too: whichever copy
 * started last has the claim.
 *
 * <p>Any thread.
 */
public final class StoreIdentity {
    /** The line of a master's state from which its slaves learn it. */
    public static final String LINE = "tidemarkStore";
    private static final String FILE = "tidemark.store";
    private static final Pattern ID = Pattern.compile("[0-9a-f]{32}");

    private final Path file;
    private String id;

    private StoreIdentity(Path file, String id) {
        this.file = file;
        this.id = id;
    }

    /**
     * Reads the file in a store; it may not be there yet.
     *
     * @param store storePathRootDir, which may not be there yet either
     * @throws StartRefused it cannot be read, or does not hold an id
     */
    public static StoreIdentity open(Path store) throws StartRefused {
        Path file = store.resolve(FILE);
        try {
            String id = new String(Files.readAllBytes(file), StandardCharsets.US_ASCII).trim();
            if (!ID.matcher(id).matches()) {
                throw new StartRefused(file + " does not hold the id of a store (32 hexadecimal digits): if it was damaged,"
                    + " delete it, and start once with tidemarkOtherHolder=replace");
            }
            return new StoreIdentity(file, id);
        } catch (NoSuchFileException e) {
            return new StoreIdentity(file, "");
        } catch (IOException e) {
            throw new StartRefused(file + " cannot be read (" + e + "): see to the disk and to the rights of the broker's"
                + " user", e);
        }
    }

    /** The id; empty if there is none yet. */
    public synchronized String known() {
        return id;
    }

    /** The id, drawn now if there is none. An id that could not be written is not used. */
    public synchronized String orDrawn() {
        if (id.isEmpty()) {
            byte[] drawn = new byte[16];
            new SecureRandom().nextBytes(drawn);
            StringBuilder hex = new StringBuilder(32);
            for (byte b : drawn) {
                hex.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
            }
            write(hex.toString());
        }
        return id;
    }

    /** This is a slave of the store with that id. Returns whether it is a new one here; what is no id is left out. */
    public synchronized boolean adopt(String masters) {
        if (masters.equals(id) || !ID.matcher(masters).matches()) {
            return false;
        }
        write(masters);
        return true;
    }

    private void write(String newId) {
        Path beside = file.resolveSibling(FILE + ".new");
        try {
            Files.createDirectories(file.getParent());
            try (FileChannel out = FileChannel.open(beside, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
                out.write(ByteBuffer.wrap((newId + "\n").getBytes(StandardCharsets.US_ASCII)));
                out.force(true);
            }
            Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            try (FileChannel folder = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
                folder.force(true);
            }
        } catch (IOException e) {
            throw new IllegalStateException(file + " cannot be written: see to the disk and to the rights of the broker's"
                + " user", e);
        }
        id = newId;
    }
}
