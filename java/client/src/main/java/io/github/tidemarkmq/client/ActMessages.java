package io.github.tidemarkmq.client;

import java.util.ArrayList;
import java.util.List;

/** The acts, the header they share, and their answer. */
final class ActMessages {
    /** The act header's field, in each request. */
    static final int HEADER = 1;
    /** ActHeader.timeout_ms. */
    static final int TIMEOUT = 5;
    private static final int BEGIN = 0;
    private static final int CHUNK = 1;
    private static final int SWAP = 2;
    private static final int ABORT = 3;
    private static final int MAX_NAMES = 100;

    private ActMessages() {
    }

    private static ProtoWriter headed(ActHeader act, int expected) throws TidemarkException {
        ProtoWriter w = new ProtoWriter(256 + expected);
        int m = w.begin(HEADER);
        w.text(1, act.id()).number(2, act.base()).text(3, act.clusterId()).number(4, act.claim());
        w.end(m);
        return w;
    }

    static ProtoWriter reset(ActHeader act, List<Target> targets) throws TidemarkException {
        ProtoWriter w = headed(act, 64 * targets.size());
        Messages.targets(w, 2, targets);
        return w;
    }

    static ProtoWriter remove(ActHeader act, Scope scope) throws TidemarkException {
        ProtoWriter w = headed(act, 0);
        int m = w.begin(2);
        w.text(1, scope.groupName()).text(2, scope.topicName());
        if (scope.brokerName() != null) {
            w.presentText(3, scope.brokerName());
        }
        if (scope.queueId() >= 0) {
            w.tag(4, ProtoWriter.VARINT);
            w.varint(scope.queueId());
        }
        w.end(m);
        return w;
    }

    static ProtoWriter cloneGroup(ActHeader act, String from, String to, String topic, String broker)
        throws TidemarkException {
        ProtoWriter w = headed(act, 0).text(2, from).text(3, to).text(4, topic);
        return broker == null ? w : w.presentText(5, broker);
    }

    static ProtoWriter claimGroup(ActHeader act, String group, String holder) throws TidemarkException {
        return headed(act, 0).presentText(2, group).text(4, holder);
    }

    static ProtoWriter claimBroker(ActHeader act, String broker, String holder) throws TidemarkException {
        return headed(act, 0).presentText(3, broker).text(4, holder);
    }

    static ProtoWriter begin(ActHeader act, ImportPlan plan) throws TidemarkException {
        ProtoWriter w = headed(act, 0).number(2, BEGIN).flag(3, plan.replaces()).text(4, plan.group());
        return w.text(5, plan.hash()).number(6, plan.chunks()).number(7, plan.offsets());
    }

    static ProtoWriter chunk(ActHeader act, int chunk, List<Target> targets) throws TidemarkException {
        ProtoWriter w = headed(act, 64 * targets.size()).number(2, CHUNK).number(8, chunk);
        Messages.targets(w, 9, targets);
        return w;
    }

    static ProtoWriter swap(ActHeader act) throws TidemarkException {
        return headed(act, 0).number(2, SWAP);
    }

    static ProtoWriter abort(ActHeader act) throws TidemarkException {
        return headed(act, 0).number(2, ABORT);
    }

    static ActAnswer answer(ProtoReader r) throws MalformedException {
        Meta meta = null;
        long code = 0;
        long index = 0;
        boolean done = false;
        int next = 0;
        long changed = 0;
        long kept = 0;
        List<OffsetKey> names = new ArrayList<>();
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    meta = Messages.meta(r);
                    break;
                case 2:
                    code = r.natural();
                    break;
                case 3:
                    index = r.natural();
                    break;
                case 4:
                    done = r.flag();
                    break;
                case 5:
                    next = r.small();
                    break;
                case 6:
                    changed = r.natural();
                    break;
                case 7:
                    kept = r.natural();
                    break;
                case 8:
                    Messages.bound(names.size(), MAX_NAMES);
                    names.add(Messages.key(r, null));
                    break;
                default:
                    r.skip();
            }
        }
        return new ActAnswer(Messages.required(meta), Code.of(code), index, done, next, changed, kept, names);
    }

    /**
     * What the answer to an act means.
     *
     * @param resent an earlier send may have been done
     */
    static ActAnswer judge(String what, ActAnswer a, boolean resent) throws TidemarkException {
        if (a.code() == Code.OK) {
            return a;
        }
        boolean forgotten = resent && (a.code() == Code.TOO_OLD || a.code() == Code.NO_IMPORT);
        if (forgotten) {
            throw new ActRefusedException(Code.OUTCOME_UNKNOWN, what + ": the answer to a resend was " + a.code()
                + "; an earlier send may have been done, and its answer forgotten: look at the keys", a);
        }
        String first = a.names().isEmpty() ? "" : "; the first key in the way is " + a.names().get(0);
        throw new ActRefusedException(a.code(), what + ": " + advice(a.code()) + first, a);
    }

    private static String advice(Code code) {
        switch (code) {
            case SUPERSEDED:
                return "a newer act, or claim, is in the way; look at the keys, then decide again, with a new header";
            case TOO_OLD:
                return "its base is older than the acts that the cluster remembers; decide again, with a new header";
            case NOT_FOUND:
                return "what it names does not exist; check the names";
            case IMPORT_BUSY:
                return "another import is under way; wait for it, or abort it";
            case NO_IMPORT:
                return "this import is not under way; begin it again";
            case LIMIT:
                return "a bound on what the cluster keeps is reached; remove what is not needed";
            default:
                return "refused with " + code;
        }
    }
}
