package io.github.tidemarkmq.client;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes protobuf's wire format into one growing array: what the messages of transport/api need of it, and no more.
 * Fields that hold their default are left out, as protobuf does. Not for use from several threads.
 */
final class ProtoWriter {
    static final int VARINT = 0;
    static final int BYTES = 2;

    private byte[] buf;
    private int len;

    ProtoWriter(int expected) {
        buf = new byte[Math.max(expected, 64)];
    }

    byte[] array() {
        return buf;
    }

    int length() {
        return len;
    }

    ProtoWriter number(int field, long v) {
        if (v != 0) {
            tag(field, VARINT);
            varint(v);
        }
        return this;
    }

    ProtoWriter flag(int field, boolean v) {
        return number(field, v ? 1 : 0);
    }

    /** A name; the empty one is left out. */
    ProtoWriter text(int field, String s) throws TidemarkException {
        return s.isEmpty() ? this : presentText(field, s);
    }

    /** A name whose presence counts, also when it is empty. */
    ProtoWriter presentText(int field, String s) throws TidemarkException {
        tag(field, BYTES);
        int n = s.length();
        int start = len;
        need(n + 10);
        varint(n);
        for (int i = 0; i < n; i++) {
            char c = s.charAt(i);
            if (c >= 0x80) {
                len = start;
                utf8(s);
                return this;
            }
            buf[len++] = (byte) c;
        }
        return this;
    }

    private void utf8(String s) throws TidemarkException {
        for (int i = 0; i < s.length(); i++) {
            if (!Character.isSurrogate(s.charAt(i))) {
                continue;
            }
            if (i + 1 == s.length() || !Character.isSurrogatePair(s.charAt(i), s.charAt(i + 1))) {
                throw new TidemarkException(Code.INVALID,
                    "the name " + Names.quoted(s) + " holds half a character and cannot be sent; correct the name");
            }
            i++;
        }
        byte[] b = s.getBytes(StandardCharsets.UTF_8);
        varint(b.length);
        need(b.length);
        System.arraycopy(b, 0, buf, len, b.length);
        len += b.length;
    }

    /** Begins a message; what it returns goes to {@link #end}. */
    int begin(int field) {
        tag(field, BYTES);
        need(1);
        return len++;
    }

    /** Ends a message: its length goes before its content, which makes room where that needs more than a byte. */
    void end(int begun) {
        int size = len - begun - 1;
        int more = sizeOf(size) - 1;
        need(more);
        if (more > 0) {
            System.arraycopy(buf, begun + 1, buf, begun + 1 + more, size);
        }
        len = begun;
        varint(size);
        len += size;
    }

    void tag(int field, int type) {
        varint(field << 3 | type);
    }

    void varint(long v) {
        need(10);
        long rest = v;
        while ((rest & ~0x7fL) != 0) {
            buf[len++] = (byte) (rest & 0x7f | 0x80);
            rest >>>= 7;
        }
        buf[len++] = (byte) rest;
    }

    /** How many bytes {@link #varint} takes. */
    static int sizeOf(long v) {
        return (70 - Long.numberOfLeadingZeros(v | 1)) / 7;
    }

    private void need(int n) {
        if (buf.length - len < n) {
            buf = Arrays.copyOf(buf, Math.max(buf.length * 2, len + n));
        }
    }
}
