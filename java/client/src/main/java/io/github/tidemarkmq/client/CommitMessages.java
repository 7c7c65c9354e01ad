package io.github.tidemarkmq.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * A request of commits and its answer. On the wire, commits of one group, topic and broker share their names; so they
 * are brought into the order of keys first if they are not in it, and the verdicts back into the caller's.
 */
final class CommitMessages {
    /** CommitRequest.timeout_ms. */
    static final int TIMEOUT = 4;

    private final List<Commit> commits;
    /** The caller's index of the i-th commit on the wire; null if the order is the same. */
    private final Integer[] order;

    CommitMessages(List<Commit> commits) {
        this.commits = commits;
        this.order = ascending(commits) ? null : ordered(commits);
    }

    private static boolean ascending(List<Commit> commits) {
        for (int i = 1; i < commits.size(); i++) {
            if (commits.get(i - 1).key().compareTo(commits.get(i).key()) > 0) {
                return false;
            }
        }
        return true;
    }

    private static Integer[] ordered(List<Commit> commits) {
        Integer[] order = new Integer[commits.size()];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparing(i -> commits.get(i).key()));
        return order;
    }

    private int caller(int onWire) {
        return order == null ? onWire : order[onWire];
    }

    private Commit commit(int onWire) {
        return commits.get(caller(onWire));
    }

    ProtoWriter request(String clusterId, boolean atomic) throws TidemarkException {
        ProtoWriter w = new ProtoWriter(64 + 16 * commits.size());
        w.text(1, clusterId).flag(2, atomic);
        for (int from = 0; from < commits.size();) {
            int to = from + 1;
            while (to < commits.size() && commit(to).key().sameTopic(commit(from).key())) {
                to++;
            }
            topic(w, from, to);
            from = to;
        }
        return w;
    }

    /** Writes the commits from (inclusive) to (exclusive), which share a topic. */
    private void topic(ProtoWriter w, int from, int to) throws TidemarkException {
        OffsetKey key = commit(from).key();
        int m = w.begin(3);
        w.text(1, key.group()).text(2, key.topic()).text(3, key.broker());
        int list = w.begin(4);
        for (int i = from; i < to; i++) {
            w.varint(commit(i).key().queueId());
        }
        w.end(list);
        list = w.begin(5);
        for (int i = from; i < to; i++) {
            w.varint(commit(i).offset());
        }
        w.end(list);
        list = w.begin(6);
        for (int i = from; i < (oneEpoch(from, to) ? from + 1 : to); i++) {
            w.varint(commit(i).epoch());
        }
        w.end(list);
        w.end(m);
    }

    private boolean oneEpoch(int from, int to) {
        for (int i = from + 1; i < to; i++) {
            if (commit(i).epoch() != commit(from).epoch()) {
                return false;
            }
        }
        return true;
    }

    CommitAnswer answer(ProtoReader r) throws MalformedException {
        long[] offsets = new long[commits.size()];
        List<Refusal> refusals = new ArrayList<>();
        Meta meta = null;
        int n = 0;
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    meta = Messages.meta(r);
                    break;
                case 2:
                    n = offsets(r, offsets, n);
                    break;
                case 3:
                    Messages.bound(refusals.size(), offsets.length);
                    refusals.add(refusal(r));
                    break;
                default:
                    r.skip();
            }
        }
        if (n != offsets.length) {
            throw new MalformedException("it has " + n + " verdicts on " + offsets.length + " commits");
        }
        for (Refusal f : refusals) {
            offsets[f.at()] = -1;
        }
        if (order != null) {
            refusals.sort(Comparator.comparingInt(Refusal::at));
        }
        return new CommitAnswer(Messages.required(meta), offsets, refusals);
    }

    private int offsets(ProtoReader r, long[] offsets, int filled) throws MalformedException {
        if (!r.packed()) {
            Messages.bound(filled, offsets.length);
            offsets[caller(filled)] = r.natural();
            return filled + 1;
        }
        int n = filled;
        int outer = r.enter();
        while (!r.atEnd()) {
            Messages.bound(n, offsets.length);
            long offset = r.varint();
            if (offset < 0) {
                throw new MalformedException("an offset is beyond 2^63-1");
            }
            offsets[caller(n++)] = offset;
        }
        r.leave(outer);
        return n;
    }

    private Refusal refusal(ProtoReader r) throws MalformedException {
        long at = 0;
        long code = 0;
        KeyState state = null;
        int outer = r.enter();
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    at = r.natural();
                    break;
                case 2:
                    code = r.natural();
                    break;
                case 3:
                    state = Messages.state(r, at < commits.size() ? commit((int) at).key() : null);
                    break;
                default:
                    r.skip();
            }
        }
        r.leave(outer);
        if (at >= commits.size() || state == null || !state.key().equals(commit((int) at).key())) {
            throw new MalformedException("a refusal of a commit that was not sent");
        }
        if (code != Code.FENCED.number() && code != Code.NOT_APPLIED.number()) {
            throw new MalformedException("a commit refused with the code " + code);
        }
        return new Refusal(caller((int) at), Code.of(code), state);
    }
}
