package io.github.tidemarkmq.client;

import java.util.ArrayList;
import java.util.List;

/** Fetches and listings, and their answers. */
final class ReadMessages {
    /** FetchRequest.timeout_ms. */
    static final int FETCH_TIMEOUT = 4;
    /** ListRequest.timeout_ms. */
    static final int LIST_TIMEOUT = 12;
    /** ClaimsRequest.timeout_ms. */
    static final int CLAIMS_TIMEOUT = 5;
    /** LIST_KIND_KEYS. */
    private static final int KEYS = 2;

    private ReadMessages() {
    }

    static ProtoWriter fetch(List<OffsetKey> keys, ReadAt at) throws TidemarkException {
        ProtoWriter w = new ProtoWriter(64 + 48 * keys.size());
        for (OffsetKey key : keys) {
            Messages.key(w, 1, key);
        }
        return w.number(2, at.level()).number(3, at.index());
    }

    static FetchAnswer fetched(List<OffsetKey> keys, ProtoReader r) throws MalformedException {
        List<KeyState> states = new ArrayList<>(keys.size());
        Meta meta = null;
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    meta = Messages.meta(r);
                    break;
                case 2:
                    Messages.bound(states.size(), keys.size());
                    states.add(asked(Messages.state(r, keys.get(states.size())), keys.get(states.size())));
                    break;
                default:
                    r.skip();
            }
        }
        if (states.size() != keys.size()) {
            throw new MalformedException("it has " + states.size() + " states of " + keys.size() + " keys");
        }
        return new FetchAnswer(Messages.required(meta), states);
    }

    /** Checks that a state is that of the key asked for. */
    static KeyState asked(KeyState state, OffsetKey key) throws MalformedException {
        if (!state.key().equals(key)) {
            throw new MalformedException("it has a state of " + state.key() + " where " + key + " was asked for");
        }
        return state;
    }

    static ProtoWriter list(KeyFilter filter, OffsetKey after, int limit, ReadAt at) throws TidemarkException {
        ProtoWriter w = new ProtoWriter(256);
        w.number(1, KEYS).text(2, filter.groupName()).text(3, filter.topicName());
        if (filter.brokerName() != null) {
            w.presentText(4, filter.brokerName());
        }
        w.number(6, filter.newerThanIndex()).flag(7, filter.pendingOnly());
        if (after != null) {
            Messages.key(w, 8, after);
        }
        return w.number(9, limit).number(10, at.level()).number(11, at.index());
    }

    static KeyPage page(ProtoReader r) throws MalformedException {
        List<KeyState> states = new ArrayList<>();
        Meta meta = null;
        boolean more = false;
        OffsetKey before = null;
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    meta = Messages.meta(r);
                    break;
                case 3:
                    Messages.bound(states.size(), Cluster.MAX_COMMITS);
                    KeyState state = Messages.state(r, before);
                    states.add(state);
                    before = state.key();
                    break;
                case 4:
                    more = r.flag();
                    break;
                default:
                    r.skip();
            }
        }
        if (more && states.isEmpty()) {
            throw new MalformedException("a page without a row is not the last");
        }
        return new KeyPage(Messages.required(meta), states, more);
    }

    static ProtoWriter claimOf(String broker, ReadAt at) throws TidemarkException {
        return new ProtoWriter(64).presentText(2, broker).number(3, at.level()).number(4, at.index());
    }

    /** The answer to a question for one scope: at most one claim. */
    static ClaimAnswer claim(ProtoReader r) throws MalformedException {
        Meta meta = null;
        Claimed claimed = null;
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    meta = Messages.meta(r);
                    break;
                case 2:
                    Messages.bound(claimed == null ? 0 : 1, 1);
                    claimed = new Claimed(r);
                    break;
                default:
                    r.skip();
            }
        }
        Messages.required(meta);
        return claimed == null ? new ClaimAnswer(meta, "", 0) : new ClaimAnswer(meta, claimed.holder, claimed.index);
    }

    /** A claim, read from its message; its scope is the one asked for. */
    private static final class Claimed {
        private String holder = "";
        private long index;

        Claimed(ProtoReader r) throws MalformedException {
            int outer = r.enter();
            while (r.next()) {
                switch (r.field()) {
                    case 3:
                        holder = r.text("");
                        break;
                    case 4:
                        index = r.natural();
                        break;
                    default:
                        r.skip();
                }
            }
            r.leave(outer);
        }
    }
}
