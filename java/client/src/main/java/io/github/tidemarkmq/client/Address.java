package io.github.tidemarkmq.client;

/** Where a node's API is. */
final class Address {
    private final String host;
    private final int port;

    private Address(String host, int port) {
        this.host = host;
        this.port = port;
    }

    /** Reads HOST:PORT, with an IPv6 address in brackets; null if it is not that. */
    static Address parse(String text) {
        int colon = text.lastIndexOf(':');
        if (colon <= 0 || text.length() > 300) {
            return null;
        }
        String host = text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            return null;
        }
        int port = port(text.substring(colon + 1));
        return port > 0 && plain(host) ? new Address(host, port) : null;
    }

    private static int port(String digits) {
        if (digits.isEmpty() || digits.length() > 5) {
            return 0;
        }
        int port = 0;
        for (int i = 0; i < digits.length(); i++) {
            char c = digits.charAt(i);
            if (c < '0' || c > '9') {
                return 0;
            }
            port = port * 10 + c - '0';
        }
        return port <= 65535 ? port : 0;
    }

    private static boolean plain(String host) {
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            if (c <= ' ' || c > '~' || "/?#@[]\\\"".indexOf(c) >= 0) {
                return false;
            }
        }
        return !host.isEmpty();
    }

    String host() {
        return host;
    }

    int port() {
        return port;
    }

    /** Whether the host is an IP address, which needs no lookup. */
    boolean literal() {
        return host.indexOf(':') >= 0 || host.chars().allMatch(c -> c == '.' || c >= '0' && c <= '9');
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof Address && port == ((Address) o).port && host.equals(((Address) o).host);
    }

    @Override
    public int hashCode() {
        return host.hashCode() * 31 + port;
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
