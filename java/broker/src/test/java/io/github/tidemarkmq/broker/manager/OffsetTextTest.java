package io.github.tidemarkmq.broker.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.rocketmq.broker.offset.ConsumerOffsetManager;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;
import org.apache.rocketmq.remoting.protocol.body.ConsumerOffsetSerializeWrapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OffsetTextTest {
    @TempDir
    Path dir;

    private static String text() {
        OffsetText text = new OffsetText();
        text.row("orders", "billing", 1, 9);
        text.row("orders", "billing", 0, 17);
        text.row("%RETRY%billing", "billing", 0, Long.MAX_VALUE);
        text.row("a\"b\\c\n", "g", 2, 0);
        text.rows(Collections.singletonMap("rmq_sys_REVIVE_LOG_DefaultCluster@CID_RMQ_SYS_REVIVE_GROUP",
            Collections.singletonMap(3, 4L)));
        return text.json("{\"counter\":7,\"stateVersion\":0,\"timestamp\":1758274740000}", null);
    }

    @Test
    void aBrokerReadsWhatWeWrite() {
        ConsumerOffsetManager read = RemotingSerializable.fromJson(text(), ConsumerOffsetManager.class);
        assertEquals(4, read.getOffsetTable().size());
        assertEquals(17L, read.getOffsetTable().get("orders@billing").get(0));
        assertEquals(9L, read.getOffsetTable().get("orders@billing").get(1));
        assertEquals(Long.MAX_VALUE, read.getOffsetTable().get("%RETRY%billing@billing").get(0));
        assertEquals(0L, read.getOffsetTable().get("a\"b\\c\n@g").get(2));
        assertEquals(4L,
            read.getOffsetTable().get("rmq_sys_REVIVE_LOG_DefaultCluster@CID_RMQ_SYS_REVIVE_GROUP").get(3));
        assertEquals(7, read.getDataVersion().getCounter().get());
    }

    /** A slave 5.5.0 can't read bare keys in fields that its wrapper does not know, such as pullOffsetTable. */
    @Test
    void aSlaveReadsOurAnswerTo43() {
        ConsumerOffsetSerializeWrapper read = ConsumerOffsetSerializeWrapper.decode(
            text().getBytes(StandardCharsets.UTF_8), ConsumerOffsetSerializeWrapper.class);
        assertEquals(17L, read.getOffsetTable().get("orders@billing").get(0));
        assertEquals(7, read.getDataVersion().getCounter().get());
    }

    @Test
    void ofAnEmptyTable() {
        String json = new OffsetText().json("", null);
        assertEquals("{\n\"offsetTable\":{\n}\n}\n", json);
        assertTrue(RemotingSerializable.fromJson(json, ConsumerOffsetManager.class).getOffsetTable().isEmpty());
    }

    @Test
    void theFileBeforeIsKept() throws Exception {
        Path file = dir.resolve("config").resolve("consumerOffset.json");
        FileReplacement.replace(file, "one");
        assertFalse(Files.exists(file.resolveSibling("consumerOffset.json.bak")));
        FileReplacement.replace(file, "two");
        assertEquals("two", new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
        assertEquals("one",
            new String(Files.readAllBytes(file.resolveSibling("consumerOffset.json.bak")), StandardCharsets.UTF_8));
        assertFalse(Files.exists(file.resolveSibling("consumerOffset.json.new")));
    }

    @Test
    void anotherBrokersTableBringsOnlyItsOwnGroups() {
        ConcurrentMap<String, ConcurrentMap<Integer, Long>> theirs = new ConcurrentHashMap<>();
        theirs.put("T@G", new ConcurrentHashMap<>(Collections.singletonMap(0, 1L)));
        theirs.put("half@CID_RMQ_SYS_TRANS", new ConcurrentHashMap<>(Collections.singletonMap(0, 2L)));
        theirs.put("T@G@broadcast", new ConcurrentHashMap<>(Collections.singletonMap(0, 3L)));
        OwnOffsets own = new OwnOffsets();
        own.putAll(theirs);
        assertEquals(Collections.singleton("half@CID_RMQ_SYS_TRANS"), own.keySet());
        own.commit("T@G", 0, 5);
        assertEquals(1, own.size());
        assertEquals(2, own.query("half@CID_RMQ_SYS_TRANS", 0));
        assertEquals(-1, own.query("half@CID_RMQ_SYS_TRANS", 1));
        assertEquals(Collections.singleton("half"), own.topics("CID_RMQ_SYS_TRANS"));
        assertEquals(Collections.singleton("CID_RMQ_SYS_TRANS"), own.groups("half"));
    }
}
