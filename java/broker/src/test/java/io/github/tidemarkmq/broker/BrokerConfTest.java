package io.github.tidemarkmq.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.tidemarkmq.broker.progress.StartRefused;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BrokerConfTest {
    @TempDir
    Path dir;

    @Test
    void theFileOfTheCommandLine() throws Exception {
        String file = dir.resolve("broker.conf").toString();
        Files.write(Paths.get(file), "brokerName=a\ntidemarkEndpoints=b:1\n".getBytes("UTF-8"));
        String[][] lines = {{"-c", file}, {"-c" + file}, {"--configFile", file}, {"--configFile=" + file},
            {"-n", "127.0.0.1:9876", "-c", file}};
        for (String[] args : lines) {
            assertEquals("b:1", BrokerConf.read(args).getProperty("tidemarkEndpoints"), String.join(" ", args));
        }
        assertTrue(BrokerConf.read(new String[] {"-n", "127.0.0.1:9876"}).isEmpty());
        String[] none = {"-c", file + "x"};
        String said = assertThrows(StartRefused.class, () -> BrokerConf.read(none)).getMessage();
        assertTrue(said.contains("name another with -c FILE"), said);
    }

    @Test
    void unsupportedKindsHaveASentenceEach() throws Exception {
        refused("enableDLegerCommitLog=true is not supported", "enableDLegerCommitLog=true");
        refused("messageStorePlugIn=org.apache.rocketmq.tieredstore.TieredMessageStore is not supported",
            "messageStorePlugIn=org.apache.rocketmq.tieredstore.TieredMessageStore");
        Unsupported.check(properties("messageStorePlugIn= "));
        String pop = "popConsumerKVServiceEnable=true with slaves";
        refused(pop, "popConsumerKVServiceEnable=true", "enableControllerMode=true");
        refused(pop, "popConsumerKVServiceInit=true", "brokerRole=SLAVE");
        Unsupported.check(properties("popConsumerKVServiceEnable=true", "brokerRole=ASYNC_MASTER"));
        Unsupported.check(properties("enableControllerMode=true", "enableDLegerCommitLog=false"));
    }

    private static void refused(String part, String... lines) {
        String said = assertThrows(StartRefused.class, () -> Unsupported.check(properties(lines))).getMessage();
        assertTrue(said.startsWith(part) && said.contains("BrokerStartup"), said);
    }

    private static Properties properties(String... lines) {
        Properties p = new Properties();
        for (String line : lines) {
            p.setProperty(line.split("=")[0], line.split("=")[1]);
        }
        return p;
    }
}
