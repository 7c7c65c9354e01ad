package io.github.tidemarkmq.client;

/** The token that goes with each request: a given one, or that of a file, which is read again when it changes. */
final class Credentials {
    private final String token;
    /** Null: no file. */
    private final WatchedFile file;
    private volatile String read = "";

    private Credentials(String token, WatchedFile file) {
        this.token = token;
        this.file = file;
    }

    /** Checks the token, or reads its file; both may be empty, and not both given. */
    static Credentials of(String token, String path, long lookMillis) throws TidemarkException {
        if (!token.isEmpty() && !path.isEmpty()) {
            throw new TidemarkException(Code.INVALID, "a token and the file of one are given; give one of them");
        }
        Credentials c = new Credentials(checked("the token", token),
            path.isEmpty() ? null : new WatchedFile(path, lookMillis));
        if (c.file != null) {
            c.read = checked(path, c.file.text().trim());
            if (c.read.isEmpty()) {
                throw new TidemarkException(Code.INVALID, path + " holds no token");
            }
        }
        return c;
    }

    private static String checked(String what, String token) throws TidemarkException {
        for (int i = 0; i < token.length(); i++) {
            if (token.charAt(i) <= ' ' || token.charAt(i) > '~') {
                throw new TidemarkException(Code.INVALID, what + " holds a character that no token has");
            }
        }
        return token;
    }

    /** The header line, or nothing. While a file cannot be read, or holds no token, the last one stays in use. */
    String header() {
        if (file != null && file.changed()) {
            try {
                String now = checked("", file.text().trim());
                read = now.isEmpty() ? read : now;
            } catch (TidemarkException e) {
                file.again();
            }
        }
        String now = file == null ? token : read;
        return now.isEmpty() ? "" : "Authorization: Bearer " + now + "\r\n";
    }
}
