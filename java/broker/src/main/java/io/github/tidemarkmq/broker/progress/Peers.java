package io.github.tidemarkmq.broker.progress;

/**
 * Which connections count as one (docs/decisions/0013-slaves-of-a-broker.md). Consumers register themselves at the
 * broker over the connection that they commit over, and each such connection stands for itself. A proxy in cluster mode
 * does not, and sends what one consumer says over any of its connections: those of one host count as one.
 */
public interface Peers {
    /** Every connection stands for itself. */
    Peers APART = (client, group) -> null;

    /**
     * The host that a connection counts as. Any thread; must not block.
     *
     * @param client the connection's address, as commits have it
     * @return null if it stands for itself: it is a consumer's that has registered itself for the group, or is closed,
     *     or is none, as POP's
     */
    String host(String client, String group);

    /** What a connection counts as: its host, or itself. */
    default String name(String client, String group) {
        String host = host(client, group);
        return host == null ? client : host;
    }

    /** Whether two connections count as one. */
    default boolean same(String a, String b, String group) {
        if (a.equals(b)) {
            return true;
        }
        String host = host(a, group);
        return host != null && host.equals(host(b, group));
    }
}
