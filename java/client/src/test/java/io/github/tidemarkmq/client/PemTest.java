package io.github.tidemarkmq.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Arrays;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** Private keys in the forms that tools write. */
class PemTest {
    private static String pem(String kind, byte[] der) {
        return "-----BEGIN " + kind + "-----\r\n" + Base64.getMimeEncoder().encodeToString(der) + "\r\n-----END " + kind
            + "-----\r\n";
    }

    private static KeyPair pair(String algorithm, int bits) throws Exception {
        KeyPairGenerator g = KeyPairGenerator.getInstance(algorithm);
        g.initialize(bits);
        return g.generateKeyPair();
    }

    /** The older form of a key is what its PKCS#8 form ends with, from a known length on. */
    private static byte[] older(KeyPair pair, int header) {
        byte[] pkcs8 = pair.getPrivate().getEncoded();
        return Arrays.copyOfRange(pkcs8, header, pkcs8.length);
    }

    @Test
    void keysAreReadInEachForm() throws Exception {
        KeyPair rsa = pair("RSA", 2048);
        KeyPair small = pair("EC", 256);
        KeyPair large = pair("EC", 521);
        for (KeyPair p : new KeyPair[] {rsa, small, large}) {
            assertEquals(p.getPrivate(), Pem.key("f", pem("PRIVATE KEY", p.getPrivate().getEncoded()), p.getPublic()));
        }
        assertEquals(rsa.getPrivate(), Pem.key("f", pem("RSA PRIVATE KEY", older(rsa, 26)), rsa.getPublic()));
        assertEquals(small.getPrivate(), Pem.key("f", "x\n" + pem("EC PARAMETERS", new byte[] {6, 1, 1})
            + pem("EC PRIVATE KEY", older(small, 28)), small.getPublic()));
        assertEquals(large.getPrivate(), Pem.key("f", pem("EC PRIVATE KEY", older(large, 25)), large.getPublic()));
    }

    @Test
    void whatIsNoKeyIsSaidToBe() throws Exception {
        KeyPair rsa = pair("RSA", 2048);
        KeyPair ec = pair("EC", 256);
        String[] bad = {"", pem("CERTIFICATE", new byte[3]), pem("PRIVATE KEY", new byte[3]),
            pem("ENCRYPTED PRIVATE KEY", new byte[3]), pem("PRIVATE KEY", ec.getPrivate().getEncoded()),
            pem("RSA PRIVATE KEY", new byte[70_000]),
            pem("PRIVATE KEY", pair("RSA", 2048).getPrivate().getEncoded())};
        for (String s : bad) {
            TidemarkException e = assertThrows(TidemarkException.class, () -> Pem.key("k.pem", s, rsa.getPublic()));
            assertEquals(Code.INVALID, e.code());
            assertTrue(e.getMessage().startsWith("k.pem "), e.getMessage());
        }
        String other = pem("PRIVATE KEY", pair("EC", 256).getPrivate().getEncoded());
        TidemarkException e = assertThrows(TidemarkException.class, () -> Pem.key("k.pem", other, ec.getPublic()));
        assertEquals("k.pem holds the key of another certificate", e.getMessage());
    }
}
