package io.github.tidemarkmq.client;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Reads answers of HTTP/1.1 from one connection, one after the other. All that comes is hostile: the head is at most
 * 16 KiB, the body at most {@link #MAX_BODY}, memory grows with what has come and not with what was announced, and an
 * answer whose end cannot be told from a cut is refused. Not for use from several threads.
 */
final class HttpAnswer {
    /** The longest body. The largest true answers, 10,000 states with names of 255 bytes, have about 8 MiB. */
    static final int MAX_BODY = 16 << 20;
    private static final int MAX_HEAD = 16 << 10;
    private static final int MAX_ERROR_TEXT = 4 << 10;
    /** How much of the buffer for bodies is kept between answers. */
    private static final int KEPT = 256 << 10;

    private final InputStream in;
    private final byte[] raw = new byte[16 << 10];
    private int rawAt;
    private int rawEnd;
    private final byte[] line = new byte[8 << 10];
    private int headLeft;

    private int status;
    private String contentType;
    private long contentLength;
    private boolean chunked;
    private boolean keepAlive;
    private byte[] body = new byte[1 << 10];
    private int length;

    HttpAnswer(InputStream in) {
        this.in = in;
    }

    int status() {
        return status;
    }

    /** The content type in lower case, without parameters; empty if there is none. */
    String contentType() {
        return contentType;
    }

    /** Whether another request may follow on the connection. */
    boolean keepAlive() {
        return keepAlive;
    }

    /** The body: the first {@link #length} bytes, valid until the next answer is read. */
    byte[] body() {
        return body;
    }

    int length() {
        return length;
    }

    /** Waits for the first byte of an answer; a SocketTimeoutException leaves all as it was. */
    void await() throws IOException {
        if (rawAt == rawEnd) {
            fill();
        }
    }

    /** Whether nothing has come unasked. */
    boolean clean() {
        return rawAt == rawEnd;
    }

    /** Reads one answer whole. */
    void read() throws IOException {
        if (body.length > KEPT) {
            body = new byte[1 << 10];
        }
        length = 0;
        head();
        if (chunked) {
            chunks();
        } else if (contentLength >= 0) {
            bytes(contentLength);
        } else if (status >= 300) {
            rest();
        } else {
            throw new MalformedException("it has no length, so that its end cannot be told from a cut");
        }
    }

    private void head() throws IOException {
        headLeft = MAX_HEAD;
        contentType = "";
        contentLength = -1;
        chunked = false;
        statusLine(line());
        for (String header = line(); !header.isEmpty(); header = line()) {
            header(header);
        }
        if (chunked && contentLength >= 0) {
            throw new MalformedException("it has two lengths");
        }
    }

    private void statusLine(String s) throws IOException {
        boolean known = s.startsWith("HTTP/1.1 ") || s.startsWith("HTTP/1.0 ");
        if (!known || s.length() < 12 || s.length() > 12 && s.charAt(12) != ' ') {
            throw new MalformedException("it does not begin as HTTP does");
        }
        status = (int) digits(s.substring(9, 12), 10, 3);
        if (status < 200) {
            throw new MalformedException("it has the status " + status);
        }
        keepAlive = s.charAt(7) == '1';
    }

    private void header(String s) throws IOException {
        int colon = s.indexOf(':');
        if (colon <= 0) {
            throw new MalformedException("a header without a name");
        }
        String value = s.substring(colon + 1).trim();
        switch (s.substring(0, colon).toLowerCase(Locale.ROOT)) {
            case "content-type":
                contentType = value.split(";", 2)[0].trim().toLowerCase(Locale.ROOT);
                break;
            case "content-length":
                long n = digits(value, 10, 18);
                if (contentLength >= 0 && contentLength != n) {
                    throw new MalformedException("it has two lengths");
                }
                contentLength = n;
                break;
            case "transfer-encoding":
                if (!value.equalsIgnoreCase("chunked")) {
                    throw new MalformedException("it has a transfer encoding that nobody asked for");
                }
                chunked = true;
                break;
            case "content-encoding":
                if (!value.equalsIgnoreCase("identity")) {
                    throw new MalformedException("it is compressed, which nobody asked for");
                }
                break;
            case "connection":
                keepAlive &= !value.equalsIgnoreCase("close");
                break;
            default:
        }
    }

    private void chunks() throws IOException {
        headLeft = MAX_HEAD;
        while (true) {
            String size = line().split(";", 2)[0].trim();
            long n = digits(size, 16, 8);
            if (n == 0) {
                break;
            }
            bytes(n);
            if (!line().isEmpty()) {
                throw new MalformedException("a chunk does not end where it should");
            }
            headLeft = MAX_HEAD; // chunks are bounded by the body, not by the head
        }
        while (!line().isEmpty()) { // trailers, which say nothing here
            continue;
        }
    }

    private void bytes(long n) throws IOException {
        if (n > MAX_BODY - length) {
            throw new MalformedException("it has more than " + MAX_BODY + " bytes");
        }
        int end = length + (int) n;
        while (length < end) {
            if (rawAt == rawEnd) {
                fill();
            }
            take(Math.min(end - length, rawEnd - rawAt));
        }
    }

    /** The words of an error to its end, or as much as anyone wants to read. */
    private void rest() throws IOException {
        keepAlive = false;
        try {
            while (length < MAX_ERROR_TEXT) {
                await();
                take(Math.min(MAX_ERROR_TEXT - length, rawEnd - rawAt));
            }
        } catch (EOFException e) {
            return; // the end that was looked for
        }
    }

    private void take(int n) {
        if (body.length - length < n) {
            body = Arrays.copyOf(body, Math.max(body.length * 2, length + n));
        }
        System.arraycopy(raw, rawAt, body, length, n);
        rawAt += n;
        length += n;
    }

    /** One line of the head without its end; characters as bytes. */
    private String line() throws IOException {
        int n = 0;
        while (true) {
            await();
            byte b = raw[rawAt++];
            if (--headLeft < 0 || n == line.length) {
                throw new MalformedException("its head has more than " + MAX_HEAD + " bytes");
            }
            if (b == '\n') {
                break;
            }
            line[n++] = b;
        }
        if (n > 0 && line[n - 1] == '\r') {
            n--;
        }
        return new String(line, 0, n, StandardCharsets.ISO_8859_1);
    }

    private static long digits(String s, int radix, int most) throws MalformedException {
        boolean plain = !s.isEmpty() && s.length() <= most && s.chars().allMatch(c -> Character.digit(c, radix) >= 0);
        if (!plain) {
            throw new MalformedException("a number of its head is not one");
        }
        return Long.parseLong(s, radix);
    }

    private void fill() throws IOException {
        int n = in.read(raw, 0, raw.length);
        if (n <= 0) {
            throw new EOFException("the connection was closed before the answer had come whole");
        }
        rawAt = 0;
        rawEnd = n;
    }
}
