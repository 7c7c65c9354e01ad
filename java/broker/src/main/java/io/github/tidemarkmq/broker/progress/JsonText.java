package io.github.tidemarkmq.broker.progress;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads JSON from bytes as RocketMQ's brokers write it: fastjson's bare numbers as names, one comma too many at an
 * end, a byte order mark. Everything else that is not JSON is refused, with its place.
 */
final class JsonText {
    /** What is wrong, and where. */
    static final class Fault extends Exception {
        private static final long serialVersionUID = 1L;

        Fault(String what, int line, int column) {
            super("line " + line + ", column " + column + ": " + what);
        }
    }

    private static final int MAX_DEPTH = 64;
    private static final int MAX_STRING = 4_096;

    private final byte[] text;
    private int at;

    JsonText(byte[] text) {
        this.text = text;
        if (text.length >= 3 && (text[0] & 255) == 0xEF && (text[1] & 255) == 0xBB && (text[2] & 255) == 0xBF) {
            at = 3;
        }
    }

    /** Where the next byte is. */
    int at() {
        return at;
    }

    Fault fault(String what) {
        int line = 1;
        int column = 1;
        for (int i = 0; i < at && i < text.length; i++) {
            column = text[i] == '\n' ? 1 : column + 1;
            line += text[i] == '\n' ? 1 : 0;
        }
        return new Fault(what, line, column);
    }

    /** The next byte that is no white space, not taken; -1 at the end. */
    int peek() {
        while (at < text.length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) {
            at++;
        }
        return at < text.length ? text[at] & 255 : -1;
    }

    void expect(char c) throws Fault {
        if (peek() != c) {
            throw fault(at >= text.length ? "the file ends where '" + c + "' should be" : "'" + c + "' should be here");
        }
        at++;
    }

    /** Nothing but white space follows. */
    void end() throws Fault {
        if (peek() != -1) {
            throw fault("there is more behind the end");
        }
    }

    /**
     * Goes to the next member of an object or element of an array, past the comma between; false, with its end taken,
     * if there is none.
     */
    boolean more(char close, boolean first) throws Fault {
        if (!first && peek() == ',') {
            at++;
        } else if (!first && peek() != close) {
            throw fault("',' or '" + close + "' should be here");
        }
        if (peek() != close) {
            return true;
        }
        at++;
        return false;
    }

    /** The name of a member, a string or a bare whole number, with its colon. */
    String name() throws Fault {
        String name = peek() == '"' ? string() : Long.toString(bare());
        expect(':');
        return name;
    }

    String string() throws Fault {
        expect('"');
        int from = at;
        boolean escaped = false;
        while (at < text.length && text[at] != '"') {
            if ((text[at] & 255) < 0x20) {
                throw fault("a control character in a string");
            }
            escaped |= text[at] == '\\';
            at += text[at] == '\\' ? 2 : 1;
        }
        if (at >= text.length || at - from > MAX_STRING) {
            throw fault(at >= text.length ? "the file ends in a string" : "a string is too long");
        }
        String s = utf8(from, at);
        at++;
        return escaped ? unescape(s) : s;
    }

    private String utf8(int from, int to) throws Fault {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text, from, to - from)).toString();
        } catch (CharacterCodingException e) {
            throw fault("a string is not UTF-8");
        }
    }

    private String unescape(String s) throws Fault {
        StringBuilder out = new StringBuilder(s.length());
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            int which = "\"\\/bfnrtu".indexOf(s.charAt(++i));
            if (which < 0) {
                throw fault("an escape that JSON does not have");
            }
            if (which < 8) {
                out.append("\"\\/\b\f\n\r\t".charAt(which));
            } else {
                out.append(hex(s, i + 1));
                i += 4;
            }
        }
        return out.toString();
    }

    private char hex(String s, int from) throws Fault {
        int v = 0;
        for (int i = from; i < from + 4; i++) {
            int digit = i < s.length() && s.charAt(i) < 128 ? Character.digit(s.charAt(i), 16) : -1;
            if (digit < 0) {
                throw fault("an escape that JSON does not have");
            }
            v = v << 4 | digit;
        }
        return (char) v;
    }

    /** A whole number, bare or in quotes. */
    long number() throws Fault {
        if (peek() != '"') {
            return bare();
        }
        at++;
        long n = bare();
        if (at >= text.length || text[at] != '"') {
            throw fault("a whole number should be here");
        }
        at++;
        return n;
    }

    private long bare() throws Fault {
        peek();
        int from = at;
        while (at < text.length && (text[at] == '-' || text[at] >= '0' && text[at] <= '9')) {
            at++;
        }
        String s = new String(text, from, at - from, StandardCharsets.US_ASCII);
        boolean fraction = at < text.length && (text[at] == '.' || text[at] == 'e' || text[at] == 'E');
        if (fraction || !s.matches("-?(0|[1-9][0-9]*)")) {
            at = from;
            throw fault("a whole number should be here");
        }
        try {
            return Long.parseLong(s);
        } catch (NumberFormatException e) {
            at = from;
            throw fault("a number beyond 64 bits");
        }
    }

    /** Passes over a value of any kind. */
    void skip() throws Fault {
        skip(0);
    }

    private void skip(int depth) throws Fault {
        if (depth > MAX_DEPTH) {
            throw fault("values nested too deep");
        }
        int c = peek();
        if (c == '{' || c == '[') {
            at++;
            char close = c == '{' ? '}' : ']';
            for (boolean first = true; more(close, first); first = false) {
                if (c == '{') {
                    name();
                }
                skip(depth + 1);
            }
        } else if (c == '"') {
            string();
        } else {
            word();
        }
    }

    private void word() throws Fault {
        int from = at;
        while (at < text.length && "+-.0123456789abcdefghijklmnopqrstuvwxyzE".indexOf(text[at]) >= 0) {
            at++;
        }
        if (at == from) {
            throw fault("a value should be here");
        }
    }
}
