package io.github.tidemarkmq.client;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads protobuf's wire format from a range of bytes that came from outside: no length is believed before it is
 * checked, nothing is copied but names, and whatever is wrong is a {@link MalformedException}. Use it as
 * {@code while (r.next()) switch (r.field()) ...}; a field that the switch does not take is skipped by {@link #skip}.
 */
final class ProtoReader {
    private final byte[] buf;
    private int at;
    private int end;
    private int field;
    private int type;

    ProtoReader(byte[] buf, int from, int to) {
        this.buf = buf;
        this.at = from;
        this.end = to;
    }

    /** Goes to the next field of the message; false at its end. */
    boolean next() throws MalformedException {
        if (at == end) {
            return false;
        }
        long tag = varint();
        field = (int) (tag >>> 3);
        type = (int) tag & 7;
        if (tag >>> 3 == 0 || tag >>> 32 != 0) {
            throw new MalformedException("a field with the tag " + Long.toUnsignedString(tag));
        }
        return true;
    }

    int field() {
        return field;
    }

    /** A number that fits into 64 bits, signed or not. */
    long number() throws MalformedException {
        expect(ProtoWriter.VARINT);
        return varint();
    }

    /** A raft index, an offset, or whatever else must not be negative. */
    long natural() throws MalformedException {
        long v = number();
        if (v < 0) {
            throw new MalformedException("field " + field + " is beyond 2^63-1");
        }
        return v;
    }

    /** A count or id that fits into 31 bits. */
    int small() throws MalformedException {
        long v = natural();
        if (v > Integer.MAX_VALUE) {
            throw new MalformedException("field " + field + " is beyond 2^31-1");
        }
        return (int) v;
    }

    boolean flag() throws MalformedException {
        return number() != 0;
    }

    /**
     * Reads a name.
     *
     * @param likely what it may well be; if it is, no new string is made
     */
    String text(String likely) throws MalformedException {
        int n = length();
        int start = at;
        at += n;
        if (same(likely, start, n)) {
            return likely;
        }
        for (int i = start; i < at; i++) {
            if (buf[i] < 0) {
                return utf8(start, n);
            }
        }
        return new String(buf, start, n, StandardCharsets.ISO_8859_1);
    }

    private boolean same(String s, int start, int n) {
        if (s.length() != n) {
            return false;
        }
        for (int i = 0; i < n; i++) {
            if (s.charAt(i) != buf[start + i]) { // a byte above 0x7f is negative, and no char is
                return false;
            }
        }
        return true;
    }

    private String utf8(int start, int n) throws MalformedException {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(buf, start, n)).toString();
        } catch (CharacterCodingException e) {
            throw new MalformedException("field " + field + " is not UTF-8");
        }
    }

    /** Enters a message, or a packed list; what it returns goes to {@link #leave}. */
    int enter() throws MalformedException {
        int n = length();
        int outer = end;
        end = at + n;
        return outer;
    }

    /** Leaves a message that was read to its end. */
    void leave(int outer) {
        end = outer;
    }

    /** Whether the message, or packed list, is read to its end. */
    boolean atEnd() {
        return at == end;
    }

    /** Whether the field is a packed list, or a single element of one. */
    boolean packed() {
        return type == ProtoWriter.BYTES;
    }

    /** Skips a field that is not known. */
    void skip() throws MalformedException {
        switch (type) {
            case ProtoWriter.VARINT:
                varint();
                break;
            case 1:
                take(8);
                break;
            case ProtoWriter.BYTES:
                take(length());
                break;
            case 5:
                take(4);
                break;
            default:
                throw new MalformedException("a field of the wire type " + type);
        }
    }

    private void take(int n) throws MalformedException {
        if (end - at < n) {
            throw new MalformedException("it ends within a field");
        }
        at += n;
    }

    private int length() throws MalformedException {
        expect(ProtoWriter.BYTES);
        long n = varint();
        if (n < 0 || n > end - at) {
            throw new MalformedException("field " + field + " says it is longer than what came");
        }
        return (int) n;
    }

    private void expect(int wanted) throws MalformedException {
        if (type != wanted) {
            throw new MalformedException("field " + field + " has the wire type " + type);
        }
    }

    /** One number of up to 64 bits. */
    long varint() throws MalformedException {
        long v = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (at == end) {
                throw new MalformedException("it ends within a number");
            }
            byte b = buf[at++];
            if (shift == 63 && b > 1) {
                break;
            }
            v |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                return v;
            }
        }
        throw new MalformedException("a number of more than 64 bits");
    }
}
