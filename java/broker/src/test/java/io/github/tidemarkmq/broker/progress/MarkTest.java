package io.github.tidemarkmq.broker.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is written into the file is read again, whatever the broker knew when it wrote. */
class MarkTest {
    @TempDir
    Path folder;

    private OffsetFile file(Mark mark) throws Exception {
        Path path = folder.resolve("consumerOffset.json");
        String text = "{\"offsetTable\":{},\"" + Mark.FIELD + "\":" + mark.json() + "}";
        Files.write(path, text.getBytes(StandardCharsets.UTF_8));
        return OffsetFile.read(path);
    }

    @Test
    void aBrokerThatNeverReadAClusterStartsAgain() throws Exception {
        Mark m = file(Mark.of("", "b\"1", 0, Collections.emptyList()).alone()).mark();
        assertEquals("", m.clusterId);
        assertEquals("b\"1", m.broker);
        assertTrue(m.alone);
    }

    @Test
    void aMarkOfNoClusterSaysNothing() {
        assertThrows(StartRefused.class, () -> file(Mark.of("", "b", 0, Collections.emptyList())));
    }

    @Test
    void valuesNotSentAreKept() throws Exception {
        Key a = new Key("orders", "billing", 3);
        Key b = new Key("orders", "audit", 0);
        Key c = new Key("orders", "audit", 1);
        Mark m = file(Mark.of("00112233445566778899aabbccddeeff", "b", 42, Arrays.asList(
            new Mark.Unsent(a, 110, 7, 100), new Mark.Unsent(b, 5, Mark.UNREAD, KeyProgress.NONE),
            new Mark.Unsent(c, KeyProgress.NONE, 9, 30)))).mark();
        assertEquals(42, m.index);
        assertEquals(a, m.unsent.get(0).key);
        assertEquals(110, m.unsent.get(0).offset);
        assertEquals(7, m.unsent.get(0).epoch);
        assertEquals(100, m.unsent.get(0).acked);
        assertEquals(Mark.UNREAD, m.unsent.get(1).epoch);
        assertEquals(1, m.toSend().size());
        assertEquals(1, m.toMerge().size());
        assertEquals(Collections.singletonList(c), m.closed());
    }
}
