package io.github.tidemarkmq.broker.manager;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Replaces the broker's file so that a crash leaves the old one or the new one, whole: written aside, synced, renamed.
 * The one before becomes the .bak, as the broker has it; between the two renames there is only that, which every
 * version reads then.
 */
final class FileReplacement {
    private FileReplacement() {
    }

    static void replace(Path path, String text) throws IOException {
        Path dir = path.toAbsolutePath().getParent();
        Files.createDirectories(dir);
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        try (FileChannel out = FileChannel.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
            out.force(true);
        }
        if (Files.exists(path)) {
            Files.move(path, path.resolveSibling(path.getFileName() + ".bak"), StandardCopyOption.ATOMIC_MOVE);
        }
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
        sync(dir);
    }

    /** On Linux and macOS; where folders can't be opened, renames are as durable as the file system makes them. */
    private static void sync(Path dir) throws IOException {
        try (FileChannel folder = FileChannel.open(dir, StandardOpenOption.READ)) {
            folder.force(true);
        } catch (java.nio.file.AccessDeniedException e) {
            return; // Windows
        }
    }
}
