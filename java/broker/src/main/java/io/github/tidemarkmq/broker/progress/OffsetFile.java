package io.github.tidemarkmq.broker.progress;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a broker's consumerOffset.json holds: offsets, and the mark if there is one. RocketMQ's own reading takes the
 * last of two, rounds fractions and begins with an empty table where the file is damaged; nothing is guessed here.
 */
public final class OffsetFile {
    /** An offset of the file. */
    static final class Row {
        final Key key;
        final long offset;

        Row(Key key, long offset) {
            this.key = key;
            this.offset = offset;
        }
    }

    private final Path path;
    private final byte[] text;
    private final List<Row> rows = new ArrayList<>();
    private final List<Row> own = new ArrayList<>();
    private final Set<Key> twins = new HashSet<>();
    private Mark mark;
    private int markFrom;
    private int markTo;
    private int skipped;

    private OffsetFile(Path path, byte[] text) {
        this.path = path;
        this.text = text;
    }

    /**
     * Reads the file; its .bak where the file is missing, which is how a crash leaves a broker of 5.4 and later
     * (ConfigManager.persist). Where neither is there, it is an empty one.
     *
     * @throws StartRefused it can't be read, or does not hold what it should; the sentence names the place
     */
    public static OffsetFile read(Path path) throws StartRefused {
        Path backup = path.resolveSibling(path.getFileName() + ".bak");
        boolean missing = !Files.exists(path);
        if (missing && !Files.exists(backup)) {
            return new OffsetFile(path, null);
        }
        Path from = missing ? backup : path;
        try {
            OffsetFile f = new OffsetFile(path, Files.readAllBytes(from));
            f.parse();
            return f;
        } catch (IOException e) {
            throw new StartRefused("The broker's offsets cannot be read from " + from + ": " + e + ".", e);
        } catch (JsonText.Fault e) {
            throw new StartRefused("The broker's file of offsets, " + from + ", is damaged at " + e.getMessage()
                + ". Put a good one in its place (" + backup.getFileName() + " beside it is the one before), or move it"
                + " away if the offsets are in the cluster already; then start again.", e);
        }
    }

    private void parse() throws JsonText.Fault {
        JsonText in = new JsonText(text);
        in.expect('{');
        boolean table = false;
        for (boolean first = true; in.more('}', first); first = false) {
            int from = in.at();
            String name = in.name();
            if (name.equals("offsetTable")) {
                if (table) {
                    throw in.fault("a second offsetTable");
                }
                table = true;
                parseTable(in);
            } else if (name.equals(Mark.FIELD)) {
                mark = Mark.parse(in);
                markFrom = from;
                markTo = in.at();
            } else {
                in.skip();
            }
        }
        in.end();
        if (!table) {
            throw in.fault("there is no offsetTable in it");
        }
        twins.clear();
    }

    private void parseTable(JsonText in) throws JsonText.Fault {
        in.expect('{');
        for (boolean first = true; in.more('}', first); first = false) {
            String names = in.name();
            in.expect('{');
            for (boolean head = true; in.more('}', head); head = false) {
                long queue = Long.parseLong(queueName(in));
                row(in, names, queue, in.number());
            }
        }
    }

    private static String queueName(JsonText in) throws JsonText.Fault {
        String s = in.name();
        if (!s.matches("-?[0-9]{1,10}")) {
            throw in.fault("a queue's number should be here");
        }
        return s;
    }

    private void row(JsonText in, String names, long queue, long offset) throws JsonText.Fault {
        int split = names.indexOf('@');
        if (split < 0 || queue < 0 || queue > Integer.MAX_VALUE || offset < 0) {
            skipped++; // an offset of -1 is none
            return;
        }
        Key key = new Key(names.substring(0, split), names.substring(split + 1), (int) queue);
        if (!twins.add(key)) {
            throw in.fault(key + " is in it twice");
        }
        if (Key.ofBroker(key.group())) {
            own.add(new Row(key, offset));
        } else if (Queues.storable(key)) {
            rows.add(new Row(key, offset));
        } else {
            skipped++;
        }
    }

    /** The offsets of the groups that are the broker's own ({@link Key#ofBroker}): they never go to the cluster. */
    public void own(Rows to) {
        for (Row r : own) {
            to.row(r.key.topic(), r.key.group(), r.key.queue(), r.offset);
        }
    }

    /** The offsets that belong to the cluster. */
    List<Row> rows() {
        return rows;
    }

    /** Whether there is nothing in it that belongs to the cluster, nor a mark. */
    boolean isEmpty() {
        return rows.isEmpty() && mark() == null;
    }

    /** Entries that are no offset: a negative number, a name that the cluster cannot hold. */
    int skipped() {
        return skipped;
    }

    /** Null for none. */
    synchronized Mark mark() {
        return mark;
    }

    /** Whether an import of it has begun and is not known to be done: then its mark has to stay as it is. */
    synchronized boolean isImporting() {
        return mark != null && !mark.importId.isEmpty();
    }

    Path path() {
        return path;
    }

    /** Writes the file as it was, byte for byte, with this mark in the place of the one that it had. */
    synchronized void writeMarked(Mark m) throws IOException {
        String before = new String(text, StandardCharsets.UTF_8);
        byte[] field = ("\"" + Mark.FIELD + "\":" + m.json()).getBytes(StandardCharsets.UTF_8);
        int open = before.startsWith("\ufeff") ? 3 : 0;
        while (text[open] != '{') {
            open++;
        }
        boolean had = markTo > 0;
        int from = had ? markFrom : open + 1;
        int to = had ? markTo : open + 1;
        replace(path, text, from, to, had ? field : (new String(field, StandardCharsets.UTF_8) + ",")
            .getBytes(StandardCharsets.UTF_8));
        mark = m;
    }

    /** Writes a file next to it, syncs, renames, and syncs the folder: a crash leaves the old file or the new one. */
    private static void replace(Path path, byte[] old, int from, int to, byte[] field) throws IOException {
        Path beside = path.resolveSibling(path.getFileName() + ".tidemark");
        try (FileChannel out = FileChannel.open(beside, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
            write(out, ByteBuffer.wrap(old, 0, from));
            write(out, ByteBuffer.wrap(field));
            write(out, ByteBuffer.wrap(old, to, old.length - to));
            out.force(true);
        }
        Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        try (FileChannel folder = FileChannel.open(path.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
            folder.force(true);
        } catch (IOException e) {
            // Windows has no such thing.
        }
    }

    private static void write(FileChannel out, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            out.write(bytes);
        }
    }
}
