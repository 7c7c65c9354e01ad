package io.github.tidemarkmq.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** What a {@link TidemarkClient} is made of. Immutable. */
public final class ClientOptions {
    private final List<String> seeds;
    private final TlsFiles tls;
    private final String token;
    private final String tokenFile;
    private final boolean insecureToken;
    private final String clusterId;
    private final int maxCalls;
    private final long attemptMillis;
    private final long lookMillis;

    private ClientOptions(Builder b) {
        this.seeds = Collections.unmodifiableList(new ArrayList<>(b.seeds));
        this.tls = b.tls;
        this.token = b.token;
        this.tokenFile = b.tokenFile;
        this.insecureToken = b.insecureToken;
        this.clusterId = b.clusterId;
        this.maxCalls = b.maxCalls;
        this.attemptMillis = b.attemptMillis;
        this.lookMillis = b.lookMillis;
    }

    /** Begins with the addresses of some nodes, preferably all: HOST:PORT, http://HOST:PORT or https://HOST:PORT. */
    public static Builder seeds(String... addresses) {
        return new Builder(Arrays.asList(addresses));
    }

    List<String> addresses() {
        return seeds;
    }

    TlsFiles tls() {
        return tls;
    }

    String token() {
        return token;
    }

    String tokenFile() {
        return tokenFile;
    }

    boolean insecureToken() {
        return insecureToken;
    }

    String clusterId() {
        return clusterId;
    }

    /** How many calls can be under way at once. */
    public int maxCalls() {
        return maxCalls;
    }

    long attemptMillis() {
        return attemptMillis;
    }

    long lookMillis() {
        return lookMillis;
    }

    /** Collects options; the defaults suit a broker. Not for use from several threads. */
    public static final class Builder {
        private final List<String> seeds;
        private TlsFiles tls;
        private String token = "";
        private String tokenFile = "";
        private boolean insecureToken;
        private String clusterId = "";
        private int maxCalls = 16;
        private long attemptMillis = 2000;
        private long lookMillis = 1000;

        private Builder(List<String> seeds) {
            this.seeds = seeds;
        }

        /** Speaks TLS with these files, to all nodes. Without it, https:// seeds are met with the JVM's own trust. */
        public Builder tls(TlsFiles files) {
            this.tls = files;
            return this;
        }

        /** Sends this token with each request; empty for none. */
        public Builder token(String value) {
            this.token = value;
            return this;
        }

        /** Sends the token that this file holds, which is read again when it changes; instead of {@link #token}. */
        public Builder tokenFile(String path) {
            this.tokenFile = path;
            return this;
        }

        /** Sends the token without TLS, too, where anyone on the way can read it; without this call that is refused. */
        public Builder insecureToken() {
            this.insecureToken = true;
            return this;
        }

        /**
         * Refuses answers of any cluster but this one (32 hexadecimal digits) with {@link Code#FOREIGN_CLUSTER}.
         * Empty, the default: each answer names its own, and the caller compares.
         */
        public Builder clusterId(String id) {
            this.clusterId = id;
            return this;
        }

        /**
         * How many calls can be under way at once, each on a connection of its own; by default 16. Further ones wait
         * within their deadline, and then fail with {@link Code#BUSY}.
         */
        public Builder maxCalls(int n) {
            this.maxCalls = n;
            return this;
        }

        /** How long one node is given for one send, in milliseconds; by default 2,000. */
        public Builder attemptMillis(long millis) {
            this.attemptMillis = millis;
            return this;
        }

        /** How long files that were looked at are not looked at again, in milliseconds; for tests. */
        Builder lookMillis(long millis) {
            this.lookMillis = millis;
            return this;
        }

        /** The options. */
        public ClientOptions build() {
            return new ClientOptions(this);
        }
    }
}
