package io.github.tidemarkmq.broker;

import io.github.tidemarkmq.broker.progress.Options;
import io.github.tidemarkmq.broker.progress.StartRefused;
import io.github.tidemarkmq.broker.store.TailCheck;
import io.github.tidemarkmq.client.ClientOptions;
import io.github.tidemarkmq.client.TlsFiles;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * The tidemark lines of broker.conf, checked. Immutable. It never shows the token: neither in an error nor as text.
 */
final class Settings {
    /** Addresses of nodes: HOST:PORT, separated by commas. Required. */
    static final String ENDPOINTS = "tidemarkEndpoints";
    /** The cluster's id, 32 hexadecimal digits: another cluster's answers are refused. */
    static final String CLUSTER = "tidemarkCluster";
    /** PEM files. */
    static final String TLS_CA = "tidemarkTlsCa";
    static final String TLS_CERTIFICATE = "tidemarkTlsCertificate";
    static final String TLS_KEY = "tidemarkTlsKey";
    static final String TOKEN = "tidemarkToken";
    static final String TOKEN_FILE = "tidemarkTokenFile";
    /** true: the token is sent without TLS too. */
    static final String INSECURE_TOKEN = "tidemarkInsecureToken";
    /** The broker's name in the cluster's keys; by default brokerName. */
    static final String BROKER = "tidemarkBroker";
    /** true: no commit lowers an offset unasked. */
    static final String GUARD = "tidemarkGuard";
    /** The start without the cluster: end, or start (on the file, and merge by maximum later). */
    static final String WITHOUT_CLUSTER = "tidemarkWithoutCluster";
    /** How long the start waits for the cluster to answer; by default 30. */
    static final String START_SECONDS = "tidemarkStartSeconds";
    /** A file that a plain broker has written, where the cluster has this broker's keys: end, merge or ignore. */
    static final String UNMARKED_FILE = "tidemarkUnmarkedFile";
    /** Offsets beyond the end of their queues, more than a lost tail: end, lower, or keep. */
    static final String LOST_LOG = "tidemarkLostLog";
    /** The name is another holder's: end, or replace it. */
    static final String OTHER_HOLDER = "tidemarkOtherHolder";
    /** false: leave the flushing of the commit log to the broker alone; commits then wait for it. */
    static final String FLUSH = "tidemarkFlush";

    private static final List<String> NAMES = Collections.unmodifiableList(Arrays.asList(ENDPOINTS, CLUSTER, TLS_CA,
        TLS_CERTIFICATE, TLS_KEY, TOKEN, TOKEN_FILE, INSECURE_TOKEN, BROKER, GUARD, WITHOUT_CLUSTER, START_SECONDS,
        UNMARKED_FILE, LOST_LOG, OTHER_HOLDER, FLUSH));
    private static final String PREFIX = "tidemark";
    private static final Pattern ADDRESS =
        Pattern.compile("(https?://)?(\\[[0-9a-fA-F:.]+]|[^\\s:/\\[\\]]+):[0-9]{1,5}/?");
    private static final Pattern CLUSTER_ID = Pattern.compile("[0-9a-f]{32}");

    private final ClientOptions client;
    private final String endpoints;
    private final String broker;
    private final boolean guard;
    private final boolean startAlone;
    private final int startSeconds;
    private final Options.Unmarked unmarked;
    private final TailCheck.Policy lostLog;
    private final boolean takeOver;
    private final boolean flush;

    private Settings(Properties p) throws StartRefused {
        refuseUnknown(p);
        List<String> seeds = seeds(p);
        this.endpoints = String.join(",", seeds);
        this.client = client(p, seeds);
        this.broker = text(p, BROKER);
        this.guard = choice(p, GUARD, "false", "true").equals("true");
        this.startAlone = choice(p, WITHOUT_CLUSTER, "end", "start").equals("start");
        this.startSeconds = seconds(p);
        this.unmarked = unmarked(choice(p, UNMARKED_FILE, "end", "merge", "ignore"));
        this.lostLog = TailCheck.Policy.valueOf(choice(p, LOST_LOG, "end", "lower", "keep").toUpperCase(Locale.ROOT));
        this.takeOver = choice(p, OTHER_HOLDER, "end", "replace").equals("replace");
        this.flush = choice(p, FLUSH, "true", "false").equals("true");
    }

    /** The settings in broker.conf's properties. */
    static Settings of(Properties properties) throws StartRefused {
        return new Settings(properties);
    }

    private static void refuseUnknown(Properties p) throws StartRefused {
        for (String name : p.stringPropertyNames()) {
            if (name.toLowerCase(Locale.ROOT).startsWith(PREFIX) && !NAMES.contains(name)) {
                throw new StartRefused(name + " in broker.conf is no setting of Tidemark's: did you mean "
                    + Nearest.of(name, NAMES) + "?");
            }
        }
    }

    private static List<String> seeds(Properties p) throws StartRefused {
        List<String> seeds = new ArrayList<>();
        for (String s : text(p, ENDPOINTS).split("[,;\\s]+")) {
            if (s.isEmpty()) {
                continue;
            }
            if (!ADDRESS.matcher(s).matches()) {
                throw new StartRefused(ENDPOINTS + " in broker.conf: '" + s + "' is no address: write HOST:PORT, and"
                    + " commas between several, as in 10.0.0.1:7411,10.0.0.2:7411,10.0.0.3:7411");
            }
            seeds.add(s);
        }
        if (seeds.isEmpty()) {
            throw new StartRefused(ENDPOINTS + " is missing in the broker's configuration: name the nodes of the"
                + " Tidemark cluster, as in tidemarkEndpoints=10.0.0.1:7411,10.0.0.2:7411,10.0.0.3:7411, and start"
                + " with -c FILE");
        }
        return seeds;
    }

    private static ClientOptions client(Properties p, List<String> seeds) throws StartRefused {
        ClientOptions.Builder b = ClientOptions.seeds(seeds.toArray(new String[0]));
        token(p, b);
        String ca = file(p, TLS_CA);
        String certificate = file(p, TLS_CERTIFICATE);
        String key = file(p, TLS_KEY);
        if (certificate.isEmpty() != key.isEmpty()) {
            throw new StartRefused(TLS_CERTIFICATE + " and " + TLS_KEY + " in broker.conf belong together: give both,"
                + " or neither");
        }
        if (!ca.isEmpty() || !certificate.isEmpty()) {
            b.tls(new TlsFiles(ca, certificate, key));
        }
        String cluster = text(p, CLUSTER);
        if (!cluster.isEmpty() && !CLUSTER_ID.matcher(cluster).matches()) {
            throw new StartRefused(CLUSTER + " in broker.conf must be the cluster's id, 32 hexadecimal digits, as"
                + " tidemark cluster status shows it");
        }
        return b.clusterId(cluster).build();
    }

    private static void token(Properties p, ClientOptions.Builder b) throws StartRefused {
        String token = text(p, TOKEN);
        String file = file(p, TOKEN_FILE);
        if (!token.isEmpty() && !file.isEmpty()) {
            throw new StartRefused("broker.conf has " + TOKEN + " and " + TOKEN_FILE + ": leave one out");
        }
        if (!file.isEmpty()) {
            b.tokenFile(file);
        } else {
            b.token(token);
        }
        if (choice(p, INSECURE_TOKEN, "false", "true").equals("true")) {
            b.insecureToken();
        } else if (!(token.isEmpty() && file.isEmpty()) && text(p, TLS_CA).isEmpty()
            && !text(p, ENDPOINTS).contains("https://")) {
            throw new StartRefused("broker.conf has a token, and no TLS: whoever is on the way could read it. Give "
                + TLS_CA + ", or write https:// before each address, or set " + INSECURE_TOKEN + "=true");
        }
    }

    private static String file(Properties p, String name) throws StartRefused {
        String path = text(p, name);
        if (!path.isEmpty() && !Files.isReadable(Paths.get(path))) {
            throw new StartRefused(name + " in broker.conf: " + path + " is not there, or the broker's user may not"
                + " read it");
        }
        return path;
    }

    private static String text(Properties p, String name) {
        return p.getProperty(name, "").trim();
    }

    /** One of some words, the first of which is the default. */
    private static String choice(Properties p, String name, String... words) throws StartRefused {
        String word = text(p, name);
        if (word.isEmpty()) {
            return words[0];
        }
        if (!Arrays.asList(words).contains(word)) {
            throw new StartRefused(name + "=" + word + " in broker.conf: it must be one of "
                + String.join(", ", words));
        }
        return word;
    }

    private static int seconds(Properties p) throws StartRefused {
        String text = text(p, START_SECONDS);
        if (text.isEmpty()) {
            return 30;
        }
        if (!text.matches("[1-9][0-9]{0,4}")) {
            throw new StartRefused(START_SECONDS + "=" + text + " in broker.conf: it must be a number of seconds, 1"
                + " or more");
        }
        return Integer.parseInt(text);
    }

    private static Options.Unmarked unmarked(String word) {
        switch (word) {
            case "merge":
                return Options.Unmarked.MERGE;
            case "ignore":
                return Options.Unmarked.IGNORE;
            default:
                return Options.Unmarked.REFUSE;
        }
    }

    ClientOptions client() {
        return client;
    }

    /** The broker's name in the cluster's keys. */
    String broker(String brokerName) {
        return broker.isEmpty() ? brokerName : broker;
    }

    boolean guard() {
        return guard;
    }

    TailCheck.Policy lostLog() {
        return lostLog;
    }

    boolean flush() {
        return flush;
    }

    /** Lays the settings over options. */
    void to(Options options) {
        options.startAlone = startAlone;
        options.startMillis = TimeUnit.SECONDS.toMillis(startSeconds);
        options.unmarked = unmarked;
        options.takeOver = takeOver;
    }

    /** For the log: what is set, without the token. */
    @Override
    public String toString() {
        return "endpoints " + endpoints + ", guard " + (guard ? "on" : "off") + ", without the cluster "
            + (startAlone ? "start" : "end") + ", unmarked file " + unmarked + ", lost log " + lostLog;
    }
}
