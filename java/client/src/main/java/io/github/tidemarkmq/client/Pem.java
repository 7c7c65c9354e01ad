package io.github.tidemarkmq.client;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and private keys from PEM texts. */
final class Pem {
    private static final Pattern BLOCK =
        Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");
    private static final byte[] RSA = {0x30, 0x0d, 0x06, 0x09, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d,
        0x01, 0x01, 0x01, 0x05, 0x00};

    private Pem() {
    }

    /** The certificates of a file, at least one, in their order. */
    static List<Certificate> certificates(String file, String pem) throws TidemarkException {
        List<Certificate> list = new ArrayList<>();
        try {
            CertificateFactory f = CertificateFactory.getInstance("X.509");
            for (Matcher m = BLOCK.matcher(pem); m.find();) {
                if (m.group(1).equals("CERTIFICATE")) {
                    list.add(f.generateCertificate(new ByteArrayInputStream(der(file, m.group(2)))));
                }
            }
        } catch (CertificateException e) {
            throw new TidemarkException(Code.INVALID, file + " holds a certificate that cannot be read: " + e, e);
        }
        if (list.isEmpty()) {
            throw new TidemarkException(Code.INVALID, file + " holds no certificate in PEM form");
        }
        return list;
    }

    /** The private key of a file, which belongs to a certificate's public key. */
    static PrivateKey key(String file, String pem, PublicKey of) throws TidemarkException {
        for (Matcher m = BLOCK.matcher(pem); m.find();) {
            byte[] der = der(file, m.group(2));
            switch (m.group(1)) {
                case "PRIVATE KEY":
                    return key(file, der, of);
                case "RSA PRIVATE KEY":
                    return key(file, pkcs8(RSA, der), of);
                case "EC PRIVATE KEY":
                    return key(file, pkcs8(algorithm(of), der), of);
                case "ENCRYPTED PRIVATE KEY":
                    throw new TidemarkException(Code.INVALID, file + " is encrypted; give the key without a password");
                default: // parameters, certificates
            }
        }
        throw new TidemarkException(Code.INVALID, file + " holds no private key in PEM form");
    }

    private static PrivateKey key(String file, byte[] pkcs8, PublicKey of) throws TidemarkException {
        try {
            PrivateKey key = KeyFactory.getInstance(of.getAlgorithm()).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            if (!fits(key, of)) {
                throw new TidemarkException(Code.INVALID, file + " holds the key of another certificate");
            }
            return key;
        } catch (GeneralSecurityException e) {
            throw new TidemarkException(Code.INVALID, file + " holds no " + of.getAlgorithm()
                + " key, which its certificate needs: " + e.getMessage(), e);
        }
    }

    /** Whether the public key verifies what the private one signs; the JVM itself finds out at a handshake only. */
    private static boolean fits(PrivateKey key, PublicKey of) throws GeneralSecurityException {
        String algorithm = of.getAlgorithm();
        if (!algorithm.equals("RSA") && !algorithm.equals("EC")) {
            return true; // signing needs other parameters; a handshake will show it
        }
        Signature s = Signature.getInstance("SHA256with" + (algorithm.equals("EC") ? "ECDSA" : "RSA"));
        s.initSign(key);
        s.update(RSA);
        byte[] signed = s.sign();
        s.initVerify(of);
        s.update(RSA);
        return s.verify(signed);
    }

    private static byte[] der(String file, String base64) throws TidemarkException {
        try {
            return Base64.getMimeDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw new TidemarkException(Code.INVALID, file + " is damaged: " + e.getMessage(), e);
        }
    }

    /** The algorithm, with its curve, as the public key (SubjectPublicKeyInfo) names it first. */
    private static byte[] algorithm(PublicKey of) {
        byte[] spki = of.getEncoded();
        int at = 2 + more(spki[1]);
        byte[] out = new byte[2 + more(spki[at + 1]) + length(spki, at + 1)];
        System.arraycopy(spki, at, out, 0, out.length);
        return out;
    }

    private static int more(byte first) {
        return first < 0 ? first & 0x7f : 0;
    }

    private static int length(byte[] der, int at) {
        int n = der[at];
        if (n >= 0) {
            return n;
        }
        n = 0;
        for (int i = 1; i <= more(der[at]); i++) {
            n = n << 8 | der[at + i] & 0xff;
        }
        return n;
    }

    /** PKCS#8 (RFC 5208): version 0, algorithm, the key in its own older form. */
    private static byte[] pkcs8(byte[] algorithm, byte[] key) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        content.write(2);
        content.write(1);
        content.write(0);
        content.write(algorithm, 0, algorithm.length);
        element(content, 4, key);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        element(out, 0x30, content.toByteArray());
        return out.toByteArray();
    }

    private static void element(ByteArrayOutputStream out, int tag, byte[] content) {
        out.write(tag);
        int n = content.length;
        if (n >= 0x80) {
            int bytes = n > 0xffff ? 3 : n > 0xff ? 2 : 1;
            out.write(0x80 | bytes);
            for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
                out.write(n >> shift);
            }
        } else {
            out.write(n);
        }
        out.write(content, 0, n);
    }
}
