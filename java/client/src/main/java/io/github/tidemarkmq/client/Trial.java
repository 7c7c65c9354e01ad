package io.github.tidemarkmq.client;

/** One call and the fate of its sends so far. Belongs to the thread of the call. */
final class Trial {
    private final Request<?> request;
    private int sends;
    private boolean unknown;
    private Failure last;

    Trial(Request<?> request) {
        this.request = request;
    }

    /** An attempt begins. */
    void begin() {
        sends++;
    }

    /** How many attempts there were. */
    int sends() {
        return sends;
    }

    /** Whether an earlier send may have been, or may still be, done; while not, an answer is that to a first send. */
    boolean resent() {
        return unknown;
    }

    private boolean reading() {
        return request.kind() == Request.Kind.READING;
    }

    /** Notes the failure of an attempt. The words of one node say more than the silence of another. */
    void note(Failure f, boolean timeUp) {
        unknown |= !reading() && f.sent() && f.code().outcomeUnknown();
        boolean silent = f.broken() || reading() && f.code().outcomeUnknown();
        boolean lateForAny = f.late() || timeUp && !f.sent();
        if (last == null || !silent || !lateForAny && last.code() != Code.NO_LEADER) {
            last = f;
        }
    }

    /** Whether the call may be sent once more after a failure. */
    boolean again(Failure f) {
        return f.broken() || f.sent() && (f.code().retriable() || f.code() == Code.CLOSED);
    }

    /** The failure of the call; every code except the unknown outcome says that no send of it is or will be done. */
    TidemarkException end(String why) {
        String text = request + (sends > 1 ? " (" + sends + " attempts)" : "") + ": " + why;
        String said = last == null || last.getMessage().isEmpty() ? "" : last.getMessage();
        return new TidemarkException(code(), join(text, said), last);
    }

    private static String join(String text, String said) {
        if (said.isEmpty()) {
            return text;
        }
        return text.endsWith(": ") ? text + said : text + "; the last word was: " + said;
    }

    private Code code() {
        if (unknown) {
            return Code.OUTCOME_UNKNOWN;
        }
        boolean unheard = last == null || last.broken() || reading() && last.code().outcomeUnknown();
        return unheard ? Code.UNREACHABLE : last.code();
    }
}
