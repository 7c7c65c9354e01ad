package io.github.tidemarkmq.broker.role;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.StartRefused;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreIdentityTest {
    private static final String OTHER = "0123456789abcdef0123456789abcdef";

    @TempDir
    Path dir;

    @Test
    void itIsDrawnOnceAndStays() throws StartRefused {
        Path store = dir.resolve("not").resolve("there");
        StoreIdentity first = StoreIdentity.open(store);
        assertEquals("", first.known());
        assertFalse(Files.exists(store), "a broker that claims nothing writes nothing");
        String id = first.orDrawn();
        assertTrue(id.matches("[0-9a-f]{32}"), id);
        assertEquals(id, first.orDrawn());
        assertEquals(id, StoreIdentity.open(store).known());
        assertEquals(id, StoreIdentity.open(store).orDrawn());
    }

    @Test
    void twoStoresDiffer() throws StartRefused {
        assertFalse(StoreIdentity.open(dir.resolve("a")).orDrawn().equals(StoreIdentity.open(dir.resolve("b")).orDrawn()));
    }

    @Test
    void aSlaveTakesItsMasters() throws StartRefused {
        StoreIdentity slave = StoreIdentity.open(dir);
        assertTrue(slave.adopt(OTHER));
        assertFalse(slave.adopt(OTHER), "it has it already");
        assertEquals(OTHER, slave.orDrawn());
        assertEquals(OTHER, StoreIdentity.open(dir).known());
    }

    @Test
    void whatIsNoIdIsNotTaken() throws StartRefused {
        StoreIdentity slave = StoreIdentity.open(dir);
        for (String no : new String[] {"", "x", OTHER + "0", OTHER.toUpperCase()}) {
            assertFalse(slave.adopt(no), no);
        }
        assertEquals("", slave.known());
    }

    @Test
    void aDamagedFileEndsTheStart() throws IOException {
        for (String text : new String[] {"", "\0\0\0", OTHER.substring(1)}) {
            Files.write(dir.resolve("tidemark.store"), text.getBytes());
            StartRefused e = assertThrows(StartRefused.class, () -> StoreIdentity.open(dir));
            assertTrue(e.getMessage().contains("does not hold the id of a store"), e.getMessage());
        }
    }

    @Test
    void aMasterTellsItsStoreAmongMuchElse() {
        String among = "{\"table\":{\"a\":\"b\",\"tidemarkStore\":\"" + OTHER + "\",\"c\":\"d\"}}";
        assertEquals(OTHER, MasterState.in(among).store);
        assertEquals(OTHER, MasterState.in("{\"table\":{\"tidemarkStore\" : \"" + OTHER + "\"}}").store);
        assertEquals("", MasterState.in("{\"table\":{\"tidemarkStore\":\"\"}}").store);
        assertEquals("", MasterState.in("{\"table\":{\"msgPutTotalTodayNow\":\"7\"}}").store);
    }

    @Test
    void aMasterTellsWhichClusterItHasRead() {
        assertEquals(OTHER, readCluster("MASTER", "true", OTHER));
        assertEquals("", readCluster("MASTER", "false", OTHER));
        assertEquals("", readCluster("SLAVE", "true", OTHER));
        assertEquals("", readCluster("MASTER", "true", ""));
        assertEquals("", MasterState.in("").readCluster);
    }

    private static String readCluster(String role, String read, String cluster) {
        return MasterState.in("{\"table\":{\"tidemarkClusterReachable\":\"true\",\"tidemarkClusterRead\":\"" + read
            + "\",\"tidemarkCluster\":\"" + cluster + "\",\"tidemarkRole\":\"" + role + "\"}}").readCluster;
    }
}
