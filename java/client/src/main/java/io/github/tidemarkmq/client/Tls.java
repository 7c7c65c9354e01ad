package io.github.tidemarkmq.client;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/** TLS with the certificates of PEM files; the name of the node is checked against its certificate, always. */
final class Tls {
    private static final char[] PASSWORD = "unused".toCharArray();

    /** Null: the JVM's own. */
    private final WatchedFile ca;
    /** Null: this client has none. */
    private final WatchedFile certificate;
    private final WatchedFile key;
    private SSLSocketFactory factory; // guarded by this

    private Tls(TlsFiles files, long lookMillis) throws TidemarkException {
        ca = file(files.ca(), lookMillis);
        certificate = file(files.certificate(), lookMillis);
        key = file(files.key(), lookMillis);
        if ((certificate == null) != (key == null)) {
            throw new TidemarkException(Code.INVALID, "a client certificate needs its key, and a key its certificate");
        }
        factory = load();
    }

    /** Reads the files; {@link Code#INVALID} says which one is not what it should be. */
    static Tls of(TlsFiles files, long lookMillis) throws TidemarkException {
        return new Tls(files, lookMillis);
    }

    private static WatchedFile file(String path, long lookMillis) throws TidemarkException {
        return path.isEmpty() ? null : new WatchedFile(path, lookMillis);
    }

    /** Speaks TLS over a connected socket; the handshake is done when this returns. */
    static SSLSocket over(Socket plain, Address address, SSLSocketFactory factory) throws IOException {
        SSLSocket s = (SSLSocket) factory.createSocket(plain, address.host(), address.port(), true);
        SSLParameters p = s.getSSLParameters();
        p.setEndpointIdentificationAlgorithm("HTTPS");
        s.setSSLParameters(p);
        s.startHandshake();
        return s;
    }

    /** The factory of the files as they are. While they cannot be read or do not fit together, the last one. */
    synchronized SSLSocketFactory current() {
        boolean changed = changed(ca) | changed(certificate) | changed(key);
        if (changed) {
            try {
                factory = load();
            } catch (TidemarkException e) {
                again(ca);
                again(certificate);
                again(key);
            }
        }
        return factory;
    }

    private static boolean changed(WatchedFile f) {
        return f != null && f.changed();
    }

    private static void again(WatchedFile f) {
        if (f != null) {
            f.again();
        }
    }

    private SSLSocketFactory load() throws TidemarkException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            KeyManagerFactory keys = keys();
            TrustManagerFactory trust = trust();
            context.init(keys == null ? null : keys.getKeyManagers(), trust == null ? null : trust.getTrustManagers(),
                null);
            return context.getSocketFactory();
        } catch (GeneralSecurityException | IOException e) {
            throw new TidemarkException(Code.INVALID, "TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    private TrustManagerFactory trust() throws TidemarkException, GeneralSecurityException, IOException {
        if (ca == null) {
            return null;
        }
        KeyStore store = empty();
        int n = 0;
        for (Certificate c : Pem.certificates(ca.toString(), ca.text())) {
            store.setCertificateEntry("ca" + n++, c);
        }
        TrustManagerFactory f = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        f.init(store);
        return f;
    }

    private KeyManagerFactory keys() throws TidemarkException, GeneralSecurityException, IOException {
        if (certificate == null) {
            return null;
        }
        List<Certificate> chain = Pem.certificates(certificate.toString(), certificate.text());
        PrivateKey secret = Pem.key(key.toString(), key.text(), chain.get(0).getPublicKey());
        KeyStore store = empty();
        store.setKeyEntry("client", secret, PASSWORD, chain.toArray(new Certificate[0]));
        KeyManagerFactory f = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        f.init(store, PASSWORD);
        return f;
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        return store;
    }
}
