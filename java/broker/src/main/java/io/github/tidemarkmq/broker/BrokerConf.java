package io.github.tidemarkmq.broker;

import io.github.tidemarkmq.broker.progress.StartRefused;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Properties;

/** The broker's configuration file, read before the broker is made: what is wrong with our lines must open no store. */
final class BrokerConf {
    private static final String LONG = "--configFile";

    private BrokerConf() {
    }

    /** The properties in the file that the command line names (-c FILE); none without it. */
    static Properties read(String[] args) throws StartRefused {
        Properties properties = new Properties();
        String file = file(args);
        if (file == null) {
            return properties;
        }
        try (InputStream in = Files.newInputStream(Paths.get(file))) {
            properties.load(in);
        } catch (IOException | IllegalArgumentException e) {
            throw new StartRefused("the broker's configuration " + file + " cannot be read: " + e
                + "; name another with -c FILE", e);
        }
        return properties;
    }

    /** As commons-cli takes it in BrokerStartup. */
    private static String file(String[] args) {
        for (int i = 0; i < args.length; i++) {
            if ((args[i].equals("-c") || args[i].equals(LONG)) && i + 1 < args.length) {
                return args[i + 1];
            }
            if (args[i].startsWith(LONG + "=")) {
                return args[i].substring(LONG.length() + 1);
            }
            if (args[i].startsWith("-c") && args[i].length() > 2) {
                return args[i].substring(2);
            }
        }
        return null;
    }

    /** The folder that the broker keeps its files in (MessageStoreConfig.storePathRootDir). */
    static Path store(Properties properties) {
        String dir = properties.getProperty("storePathRootDir");
        return dir != null ? Paths.get(dir.trim()) : Paths.get(System.getProperty("user.home"), "store");
    }
}
