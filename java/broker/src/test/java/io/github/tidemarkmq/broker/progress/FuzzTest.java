package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.client.Fuzz;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A damaged file of offsets is read, or refused with a sentence, and nothing else. */
class FuzzTest {
    private static final String CLUSTER = "00112233445566778899aabbccddeeff";

    @TempDir
    Path folder;

    private OffsetFile read(Path path, byte[] b) throws Exception {
        Files.write(path, b);
        return OffsetFile.read(path);
    }

    /** Reads a file, and tells all that it holds but for its mark. */
    private static String shown(OffsetFile f) {
        StringBuilder s = new StringBuilder();
        f.own((topic, group, queue, offset) -> s.append(new Key(topic, group, queue)).append('=').append(offset)
            .append(' '));
        Set<Key> keys = new HashSet<>();
        for (OffsetFile.Row r : f.rows()) {
            assertTrue(r.offset >= 0 && Queues.storable(r.key), r.key + " = " + r.offset + " can't be stored");
            assertTrue(keys.add(r.key), r.key + " is there twice");
            s.append(r.key).append('=').append(r.offset).append(' ');
        }
        return s.append(f.skipped()).toString();
    }

    private static void check(Mark m) {
        assertTrue(m.alone || !m.clusterId.isEmpty(), "a mark of no cluster");
        for (Mark.Unsent u : m.unsent) {
            assertTrue(Queues.storable(u.key), u.key + " can't be stored");
            assertTrue(u.offset >= -1 && u.epoch >= -1 && u.acked >= -1, u.key + " holds nothing");
        }
    }

    @Test
    void offsetFiles() throws Exception {
        Path path = folder.resolve("consumerOffset.json");
        List<byte[]> whole = Fuzz.texts(
            "{\n\t\"dataVersion\":{\"counter\":1,\"timestamp\":1700000000000},\n\t\"offsetTable\":{\n"
                + "\t\t\"T@g\":{0:100,1:7\n\t\t},\n\t\t\"%RETRY%g@g\":{0:0}\n\t}\n}",
            "\ufeff{\"offsetTable\":{\"a\\u00e9\\\"@g|1\":{\"0\":\"9223372036854775807\",},"
                + "\"b@CID_RMQ_SYS_x\":{3:1}},\"x\":[1,{\"y\":null}]}");
        Fuzz.run(whole, 5_000, StartRefused.class, b -> {
            String before = shown(read(path, b));
            String text = new String(b, StandardCharsets.ISO_8859_1).replaceFirst("^\u00ef\u00bb\u00bf", "");
            byte[] blanks = ("\n" + text + " ").getBytes(StandardCharsets.ISO_8859_1);
            assertEquals(before, shown(read(path, blanks)), "with blanks around it is another one");
        });
    }

    @Test
    void marks() throws Exception {
        Path path = folder.resolve("consumerOffset.json");
        Key a = new Key("orders", "billing", 3);
        String mark = Mark.of(CLUSTER, "b\"1", 42, Arrays.asList(new Mark.Unsent(a, 110, 7, 100),
            new Mark.Unsent(new Key("orders", "audit", 0), 5, Mark.UNREAD, -1))).json();
        Mark other = Mark.importing(CLUSTER, "b-1", "0123456789abcdef", 9);
        List<byte[]> whole = Fuzz.texts("{\"tidemark\":" + mark + ",\"offsetTable\":{\"T@g\":{0:100}}}",
            "{\"offsetTable\":{},\"tidemark\":" + other.json() + "}");
        Fuzz.run(whole, 2_000, StartRefused.class, b -> {
            OffsetFile f = read(path, b);
            String before = shown(f);
            if (f.mark() != null) {
                check(f.mark());
                String json = f.mark().json();
                String alone = "{\"offsetTable\":{},\"tidemark\":" + json + "}";
                OffsetFile again = read(path, alone.getBytes(StandardCharsets.UTF_8));
                assertEquals(json, again.mark().json(), "a mark that is written is another one");
                f = read(path, b);
            }
            f.writeMarked(other);
            OffsetFile again = OffsetFile.read(path);
            assertEquals(before, shown(again), "a new mark changes the offsets");
            assertEquals(other.json(), again.mark().json());
        });
    }
}
