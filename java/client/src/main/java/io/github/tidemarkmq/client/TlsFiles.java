package io.github.tidemarkmq.client;

/** The PEM files of a TLS client. They are read again when they change, so that certificates can be renewed. */
public final class TlsFiles {
    private final String ca;
    private final String certificate;
    private final String key;

    /**
     * Paths of PEM files.
     *
     * @param ca the authorities that are trusted; empty for the JVM's own
     * @param certificate this client's certificate, followed by its chain; empty for none
     * @param key its private key, unencrypted (PKCS#8, or PKCS#1 RSA, or SEC1 EC); empty for none
     */
    public TlsFiles(String ca, String certificate, String key) {
        this.ca = ca;
        this.certificate = certificate;
        this.key = key;
    }

    String ca() {
        return ca;
    }

    String certificate() {
        return certificate;
    }

    String key() {
        return key;
    }
}
