package io.github.tidemarkmq.client;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * Reads the error that a node answered with: Connect's JSON, in which tidemark.v1.Error travels as a detail. Without
 * that detail it is read by the HTTP status where that says that nothing was done; all else is an unknown outcome.
 */
final class ErrorBody {
    private static final int MAX_BYTES = 64 << 10;
    private static final int MAX_TEXT = 4 << 10;

    private ErrorBody() {
    }

    static Failure read(HttpAnswer answer) throws MalformedException {
        if (answer.length() > MAX_BYTES) {
            throw new MalformedException("an error of " + answer.length() + " bytes");
        }
        String body = new String(answer.body(), 0, answer.length(), StandardCharsets.UTF_8);
        if (!answer.contentType().equals("application/json")) {
            return byStatus(answer.status(), body);
        }
        Map<?, ?> json = Json.object(body);
        Failure ours = detail(json.get("details"));
        return ours == null ? byStatus(answer.status(), text(json.get("message"))) : ours;
    }

    private static Failure detail(Object details) throws MalformedException {
        if (!(details instanceof List)) {
            return null;
        }
        for (Object d : (List<?>) details) {
            boolean ours = d instanceof Map && "tidemark.v1.Error".equals(((Map<?, ?>) d).get("type"));
            if (ours) {
                return error(text(((Map<?, ?>) d).get("value")));
            }
        }
        return null;
    }

    private static Failure error(String base64) throws MalformedException {
        byte[] b;
        try {
            b = Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw new MalformedException("an error whose detail is not base64");
        }
        long code = 0;
        String text = "";
        String leader = "";
        ProtoReader r = new ProtoReader(b, 0, b.length);
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    code = r.natural();
                    break;
                case 2:
                    text = r.text("");
                    break;
                case 3:
                    leader = r.text("");
                    break;
                default:
                    r.skip();
            }
        }
        Code known = code == 0 ? Code.OUTCOME_UNKNOWN : Code.of(code); // an error that says "ok" says nothing
        return Failure.answered(known, clip(text), Address.parse(leader) == null ? "" : leader);
    }

    private static Failure byStatus(int status, String text) {
        String said = "HTTP status " + status + (text.trim().isEmpty() ? "" : ": " + clip(text.trim()));
        switch (status) {
            case 401:
            case 403:
                return Failure.answered(Code.DENIED, said, "");
            case 400:
            case 404:
            case 405:
            case 415:
            case 501:
                return Failure.answered(Code.INVALID,
                    said + "; is this the address of a Tidemark node, and its version not older?", "");
            default:
                return Failure.answered(Code.OUTCOME_UNKNOWN, said, "");
        }
    }

    private static String text(Object o) {
        return o instanceof String ? (String) o : "";
    }

    /** Bounds a text and removes what could forge a line of a log. */
    static String clip(String s) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < s.length() && i < MAX_TEXT; i++) {
            char c = s.charAt(i);
            b.append(Character.isISOControl(c) || c == '\u2028' || c == '\u2029' ? ' ' : c);
        }
        return b.toString();
    }
}
