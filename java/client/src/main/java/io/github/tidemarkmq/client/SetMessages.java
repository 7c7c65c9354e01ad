package io.github.tidemarkmq.client;

/** A set, its answer, and the meaning of that. */
final class SetMessages {
    /** SetRequest.timeout_ms. */
    static final int TIMEOUT = 9;

    private SetMessages() {
    }

    /** The answer of a node to a set. */
    static final class Verdict implements Answer {
        final Meta meta;
        final boolean applied;
        final KeyState state;

        Verdict(Meta meta, boolean applied, KeyState state) {
            this.meta = meta;
            this.applied = applied;
            this.state = state;
        }

        @Override
        public Meta meta() {
            return meta;
        }
    }

    static ProtoWriter request(SetRequest s) throws TidemarkException {
        ProtoWriter w = new ProtoWriter(256);
        Messages.key(w, 1, s.key());
        w.number(2, s.offset()).text(3, s.clusterId()).number(4, s.epoch()).flag(5, s.exists());
        return w.number(6, s.replaces()).flag(7, s.operator()).number(8, s.claim());
    }

    static Verdict answer(OffsetKey key, ProtoReader r) throws MalformedException {
        Meta meta = null;
        boolean applied = false;
        KeyState state = null;
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    meta = Messages.meta(r);
                    break;
                case 2:
                    applied = r.flag();
                    break;
                case 3:
                    state = ReadMessages.asked(Messages.state(r, key), key);
                    break;
                default:
                    r.skip();
            }
        }
        if (state == null) {
            throw new MalformedException("it has no state");
        }
        return new Verdict(Messages.required(meta), applied, state);
    }

    /**
     * What a verdict means (docs/guarantees.md, the rule of writing).
     *
     * @param resent an earlier send may have been done
     */
    static SetAnswer judge(SetRequest s, Verdict v, boolean resent) throws TidemarkException {
        if (v.applied) {
            return new SetAnswer(v.meta, v.state);
        }
        boolean same = v.meta.clusterId().equals(s.clusterId());
        Position now = v.state.position();
        if (same && s.epoch() == (s.operator() ? now.epoch() : v.state.epoch())) {
            // Had any send been done, the epoch would have moved.
            boolean asItWas = v.state.exists() == s.exists() && now.offset() == s.replaces();
            throw refused(v.state, !asItWas); // as it was: a claim is in the way
        }
        if (!resent) {
            throw refused(v.state, false);
        }
        if (same && v.state.exists() && now.offset() == s.offset() && now.index() == now.epoch()) {
            return new SetAnswer(v.meta, v.state);
        }
        throw new TidemarkException(Code.OUTCOME_UNKNOWN, "set " + s.key()
            + ": a resend was fenced, and the position does not tell whether an earlier send was done; read it again");
    }

    private static SetRefusedException refused(KeyState state, boolean overtaken) {
        String why = overtaken ? "a commit came before" : "an act, or a claim, was missed";
        return new SetRefusedException("set: " + why + "; now " + state + "; read it again", state, overtaken);
    }
}
