package io.github.tidemarkmq.client;

import java.util.ArrayList;
import java.util.List;

/** Fetches and listings, and their answers. */
final class ReadMessages {
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
        String holder = "";
        long index = 0;
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    meta = Messages.meta(r);
                    break;
                case 2:
                    Messages.bound(index == 0 ? 0 : 1, 1);
                    int outer = r.enter();
                    while (r.next()) {
                        if (r.field() == 3) {
                            holder = r.text("");
                        } else if (r.field() == 4) {
                            index = r.natural();
                        } else {
                            r.skip();
                        }
                    }
                    r.leave(outer);
                    break;
                default:
                    r.skip();
            }
        }
        return new ClaimAnswer(Messages.required(meta), holder, index);
    }
}
