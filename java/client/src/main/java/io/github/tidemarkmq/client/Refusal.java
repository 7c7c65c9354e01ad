package io.github.tidemarkmq.client;

import java.util.Objects;

/** The verdict on a commit that was not taken. */
public final class Refusal {
    private final int at;
    private final Code code;
    private final KeyState state;

    /** A refusal; see the accessors. */
    public Refusal(int at, Code code, KeyState state) {
        this.at = at;
        this.code = Objects.requireNonNull(code, "code");
        this.state = Objects.requireNonNull(state, "state");
    }

    /** Which commit of the request, from 0. */
    public int at() {
        return at;
    }

    /** {@link Code#FENCED}, or {@link Code#NOT_APPLIED}: another commit of the atomic set was fenced. */
    public Code code() {
        return code;
    }

    /** The key as it is, with the newest claim on it. */
    public KeyState state() {
        return state;
    }

    @Override
    public String toString() {
        return code + ": " + state;
    }
}
