package io.github.tidemarkmq.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.Options;
import io.github.tidemarkmq.broker.progress.StartRefused;
import io.github.tidemarkmq.broker.store.TailCheck;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
    private static final String ENDPOINTS = "tidemarkEndpoints=a:7411,b:7411";

    @TempDir
    Path dir;

    private static Settings settings(String... lines) throws StartRefused {
        Properties p = new Properties();
        for (String line : lines) {
            int at = line.indexOf('=');
            p.setProperty(line.substring(0, at), line.substring(at + 1));
        }
        return Settings.of(p);
    }

    private static void refused(String part, String... lines) {
        String said = assertThrows(StartRefused.class, () -> settings(lines)).getMessage();
        assertTrue(said.contains(part), said);
    }

    @Test
    void defaults() throws StartRefused {
        Settings s = settings(ENDPOINTS, "brokerName=broker-a");
        assertEquals("broker-a", s.broker("broker-a"));
        assertFalse(s.guard());
        assertTrue(s.flush());
        assertEquals(TailCheck.Policy.END, s.lostLog());
        Options o = new Options("broker-a", () -> "holder");
        s.to(o);
        assertFalse(o.startAlone);
        assertFalse(o.takeOver);
        assertEquals(Options.Unmarked.REFUSE, o.unmarked);
    }

    @Test
    void allSet() throws StartRefused {
        Settings s = settings("tidemarkEndpoints= https://a:7411 ; [::1]:7411", "tidemarkBroker=other",
            "tidemarkGuard=true", "tidemarkWithoutCluster=start", "tidemarkStartSeconds=5",
            "tidemarkUnmarkedFile=merge", "tidemarkLostLog=keep",
            "tidemarkOtherHolder=replace", "tidemarkFlush=false", "tidemarkCluster=0123456789abcdef0123456789abcdef");
        assertEquals("other", s.broker("broker-a"));
        assertTrue(s.guard());
        assertFalse(s.flush());
        assertEquals(TailCheck.Policy.KEEP, s.lostLog());
        Options o = new Options("other", () -> "holder");
        s.to(o);
        assertTrue(o.startAlone);
        assertTrue(o.takeOver);
        assertEquals(5_000, o.startMillis);
        assertEquals(Options.Unmarked.MERGE, o.unmarked);
    }

    @Test
    void eachMistakeHasItsSentence() throws Exception {
        refused("tidemarkEndpoints is missing");
        refused("tidemarkEndpoints is missing", "tidemarkEndpoints= , ");
        refused("'a' is no address", "tidemarkEndpoints=a");
        refused("'http://a:1/x' is no address", "tidemarkEndpoints=http://a:1/x");
        refused("did you mean tidemarkEndpoints?", "tidemarkEndpoint=a:7411");
        refused("did you mean tidemarkGuard?", ENDPOINTS, "TidemarkGuard=true");
        refused("must be one of false, true", ENDPOINTS, "tidemarkGuard=yes");
        refused("must be one of end, merge, ignore", ENDPOINTS, "tidemarkUnmarkedFile=MERGE");
        refused("must be a number of seconds", ENDPOINTS, "tidemarkStartSeconds=1m");
        refused("must be one of end, lower, keep", ENDPOINTS, "tidemarkLostLog=skip");
        refused("32 hexadecimal digits", ENDPOINTS, "tidemarkCluster=prod");
        refused("belong together", ENDPOINTS, "tidemarkTlsKey=" + file("key", "x"));
        refused("is not there", ENDPOINTS, "tidemarkTlsCa=" + dir.resolve("none.pem"));
        refused("leave one out", ENDPOINTS, "tidemarkToken=t", "tidemarkTokenFile=" + file("token", "t"));
        refused("is not there", ENDPOINTS, "tidemarkTokenFile=" + dir.resolve("none"));
        refused("tidemarkInsecureToken=true", ENDPOINTS, "tidemarkToken=t");
    }

    @Test
    void theTokenIsNowhereToBeRead() throws Exception {
        String token = "tidemarkToken=secret";
        assertFalse(settings("tidemarkEndpoints=https://a:7411", token).toString().contains("secret"));
        assertFalse(settings(ENDPOINTS, token, "tidemarkInsecureToken=true").toString().contains("secret"));
        for (String other : new String[] {"x=", "tidemarkTokenFile=" + file("f", "t"), "tidemarkGuard=maybe"}) {
            String said = assertThrows(StartRefused.class, () -> settings(ENDPOINTS, token, other)).getMessage();
            assertFalse(said.contains("secret"), said);
        }
    }

    private String file(String name, String text) throws Exception {
        Path p = dir.resolve(name);
        Files.write(p, text.getBytes("UTF-8"));
        return p.toString();
    }
}
