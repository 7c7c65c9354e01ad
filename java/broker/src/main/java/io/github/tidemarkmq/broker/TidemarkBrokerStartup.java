package io.github.tidemarkmq.broker;

import io.github.tidemarkmq.broker.manager.StartEnded;
import io.github.tidemarkmq.broker.progress.OffsetFile;
import io.github.tidemarkmq.broker.progress.StartRefused;
import io.github.tidemarkmq.broker.version.Release;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.BrokerStartup;

/**
 * Starts a broker in the place of RocketMQ's BrokerStartup, with the same arguments. A start that must not be ends with
 * one sentence, on stderr and in the broker's log, and exit code {@value #REFUSED}; nothing has been served then.
 */
public final class TidemarkBrokerStartup {
    /** As BrokerStartup's, where the broker could not initialize. */
    private static final int REFUSED = 253; // -3

    private TidemarkBrokerStartup() {
    }

    public static void main(String[] args) {
        Release release = null;
        try {
            release = Release.running();
            start(release, args);
        } catch (StartRefused e) {
            end(release, e);
        } catch (StartEnded e) {
            end(release, e.getMessage(), e.refused().getCause());
        } catch (RuntimeException | LinkageError e) {
            end(release, "an error that should not be; please report it with these lines", e);
        }
    }

    private static void start(Release release, String[] args) throws StartRefused {
        Properties conf = BrokerConf.read(args);
        Settings settings = Settings.of(conf);
        Unsupported.check(conf);
        Path store = BrokerConf.store(conf);
        StoreLock.check(store);
        OffsetFile.read(store.resolve("config").resolve("consumerOffset.json")); // a 4.9 reads it before we can
        Parts parts = new Parts(release, settings);
        BrokerController controller = release.open(args, parts::manager);
        parts.serve(controller);
        BrokerStartup.start(controller);
    }

    /** Ends the process of a broker that must not serve, or not as a master. Does not return. */
    static void end(Release release, StartRefused e) {
        end(release, e.getMessage(), e.getCause());
    }

    private static void end(Release release, String sentence, Throwable cause) {
        String line = "Tidemark: the start ends: " + sentence + (sentence.matches("(?s).*[.?]") ? "" : ".");
        if (release != null) {
            release.log().error(line, cause);
            release.flushLog();
        } else if (cause != null) {
            cause.printStackTrace();
        }
        System.err.println(line); // last, where people look
        System.exit(REFUSED);
    }
}
