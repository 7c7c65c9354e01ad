package io.github.tidemarkmq.client;

/** A set that was refused: it is not done and never will be. The code is {@link Code#FENCED}. */
public final class SetRefusedException extends TidemarkException {
    private static final long serialVersionUID = 1;

    private final transient KeyState state;
    private final boolean overtaken;

    /** A refusal with the key as it is. */
    public SetRefusedException(String message, KeyState state, boolean overtaken) {
        super(Code.FENCED, message);
        this.state = state;
        this.overtaken = overtaken;
    }

    /** The key as it is. */
    public KeyState state() {
        return state;
    }

    /**
     * True: a commit came before, and no act was missed. False: an act, a claim or a change of the cluster was missed.
     */
    public boolean overtaken() {
        return overtaken;
    }
}
