package io.github.tidemarkmq.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON, strictly. Errors come in it, and nothing else does. Objects are maps, arrays lists, numbers and the
 * literals their own text in a {@link Plain}. The depth is bounded here, and the input by the caller.
 */
final class Json {
    private static final int MAX_DEPTH = 16;

    private final String s;
    private int at;

    private Json(String s) {
        this.s = s;
    }

    /** A number, true, false or null. */
    static final class Plain {
        private final String text;

        Plain(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** Reads a text that must be one object. */
    static Map<?, ?> object(String text) throws MalformedException {
        Json j = new Json(text);
        Object v = j.value(0);
        j.blanks();
        if (!(v instanceof Map) || j.at != text.length()) {
            throw j.fault("one object is expected");
        }
        return (Map<?, ?>) v;
    }

    private Object value(int depth) throws MalformedException {
        if (depth == MAX_DEPTH) {
            throw fault("it is too deep");
        }
        switch (peek()) {
            case '{':
                return map(depth);
            case '[':
                return list(depth);
            case '"':
                return string();
            default:
                return plain();
        }
    }

    private Map<String, Object> map(int depth) throws MalformedException {
        Map<String, Object> m = new HashMap<>();
        expect('{');
        if (peek() == '}') {
            at++;
            return m;
        }
        while (true) {
            peek();
            String name = string();
            expect(':');
            if (m.put(name, value(depth + 1)) != null) {
                throw fault("a name comes twice");
            }
            if (peek() == '}') {
                at++;
                return m;
            }
            expect(',');
        }
    }

    private List<Object> list(int depth) throws MalformedException {
        List<Object> l = new ArrayList<>();
        expect('[');
        if (peek() == ']') {
            at++;
            return l;
        }
        while (true) {
            l.add(value(depth + 1));
            if (peek() == ']') {
                at++;
                return l;
            }
            expect(',');
        }
    }

    private String string() throws MalformedException {
        expect('"');
        StringBuilder b = new StringBuilder();
        while (true) {
            char c = take();
            if (c == '"') {
                return b.toString();
            }
            if (c < ' ') {
                throw fault("a control character in a string");
            }
            b.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() throws MalformedException {
        char c = take();
        switch (c) {
            case '"':
            case '\\':
            case '/':
                return c;
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                return unicode();
            default:
                throw fault("an unknown escape");
        }
    }

    private char unicode() throws MalformedException {
        int v = 0;
        for (int i = 0; i < 4; i++) {
            char c = take();
            int digit = c < 128 ? Character.digit(c, 16) : -1;
            if (digit < 0) {
                throw fault("an unknown escape");
            }
            v = v << 4 | digit;
        }
        return (char) v;
    }

    private Plain plain() throws MalformedException {
        int from = at;
        while (at < s.length() && "+-.0123456789abcdefghijklmnopqrstuvwxyzE".indexOf(s.charAt(at)) >= 0) {
            at++;
        }
        String text = s.substring(from, at);
        boolean literal = text.equals("true") || text.equals("false") || text.equals("null");
        if (!literal && !text.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?")) {
            throw fault("an unknown value");
        }
        return new Plain(text);
    }

    private void blanks() {
        while (at < s.length() && " \t\r\n".indexOf(s.charAt(at)) >= 0) {
            at++;
        }
    }

    /** The next character that is not a blank; it is not taken. */
    private char peek() throws MalformedException {
        blanks();
        if (at == s.length()) {
            throw fault("it ends too early");
        }
        return s.charAt(at);
    }

    private char take() throws MalformedException {
        if (at == s.length()) {
            throw fault("it ends too early");
        }
        return s.charAt(at++);
    }

    private void expect(char c) throws MalformedException {
        if (peek() != c) {
            throw fault("'" + c + "' is expected");
        }
        at++;
    }

    private MalformedException fault(String what) {
        return new MalformedException("not JSON, at character " + at + ": " + what);
    }
}
