package io.github.tidemarkmq.broker.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.StartRefused;
import org.junit.jupiter.api.Test;

class ReleaseTest {
    @Test
    void theOneWeAreCompiledAgainst() throws StartRefused {
        assertEquals("5.5.0", Release.running().version());
        assertTrue(Release.running() instanceof Release5);
    }

    @Test
    void whatIsSupported() throws StartRefused {
        assertTrue(Release.of("V4_9_7") instanceof Release4);
        for (String v : new String[] {"V5_3_3", "V5_4_0", "V5_5_0"}) {
            assertTrue(Release.of(v) instanceof Release5, v);
        }
        String[] others = {"V5_0_0", "V5_2_0", "V5_3_2", "V5_6_0", "V4_9_4", "V5_5_0_SNAPSHOT", "HIGHER_VERSION"};
        for (String v : others) {
            String said = assertThrows(StartRefused.class, () -> Release.of(v)).getMessage();
            assertTrue(said.contains("use 5.3.3 to 5.5.0, or 4.9.7"), said);
        }
    }
}
