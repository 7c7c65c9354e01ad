package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Commit;
import io.github.tidemarkmq.client.CommitAnswer;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.Position;
import io.github.tidemarkmq.client.Refusal;
import io.github.tidemarkmq.client.SetAnswer;
import io.github.tidemarkmq.client.SetRefusedException;
import io.github.tidemarkmq.client.SetRequest;
import io.github.tidemarkmq.client.TidemarkException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** A cluster in memory that keeps the rule of writing, whose calls can be made to fail. */
final class FakeCluster {
    private final Map<OffsetKey, Position> table = new HashMap<>();
    private final Map<OffsetKey, Long> floors = new HashMap<>();
    private String id = "c1";
    private long index = 100;
    private long lastAct;
    /** What the next calls fail with, before they are done; null: nothing. */
    private Code failing;
    /** What the next calls fail with, after they are done; null: nothing. */
    private Code losing;
    /** What happens while the next commit is under way; null: nothing. */
    private Runnable during;
    /** What requests are refused with in which there is such a key; null: none is. */
    private Code barring;
    private Predicate<OffsetKey> barred;
    private Predicate<OffsetKey> hidden = key -> false;
    private int commits;
    private int sets;
    private int fetches;

    /** It as the interface that a store uses. */
    Cluster cluster() {
        return (Cluster) Proxy.newProxyInstance(Cluster.class.getClassLoader(), new Class<?>[] {Cluster.class},
            (proxy, method, args) -> {
                switch (method.getName()) {
                    case "commit":
                        return commit((String) args[0], list(args[1]));
                    case "set":
                        return set((SetRequest) args[0]);
                    case "fetch":
                        return fetch(list(args[0]));
                    default:
                        throw new UnsupportedOperationException(method.getName());
                }
            });
    }

    @SuppressWarnings("unchecked")
    private static <T> List<T> list(Object o) {
        return (List<T>) o;
    }

    synchronized void failing(Code code) {
        failing = code;
    }

    synchronized void losing(Code code) {
        losing = code;
    }

    synchronized void during(Runnable what) {
        during = what;
    }

    /** Refuses commits and sets of these keys, and all requests that they are in; a null code ends it. */
    synchronized void bar(Code code, Predicate<OffsetKey> which) {
        barring = code;
        barred = which;
    }

    /** Refuses fetches of these keys, and all requests that they are in. */
    synchronized void hide(Predicate<OffsetKey> which) {
        hidden = which;
    }

    private void fail(Code code) throws TidemarkException {
        if (code != null) {
            throw new TidemarkException(code, "made to fail");
        }
    }

    private Meta meta() {
        return new Meta(id, index, lastAct, "", 0);
    }

    private KeyState state(OffsetKey key) {
        Position p = table.get(key);
        long floor = floors.getOrDefault(key, 0L);
        return p == null ? new KeyState(key, false, new Position(0, 0, floor, 0, false), floor, 0)
            : new KeyState(key, true, p, p.epoch(), 0);
    }

    private synchronized CommitAnswer commit(String cluster, List<Commit> list) throws TidemarkException {
        commits++;
        if (during != null) {
            during.run();
            during = null;
        }
        fail(failing);
        if (!cluster.equals(id)) {
            throw new TidemarkException(Code.FOREIGN_CLUSTER, "another cluster");
        }
        fail(barring != null && list.stream().anyMatch(c -> barred.test(c.key())) ? barring : null);
        index++;
        long[] offsets = new long[list.size()];
        List<Refusal> refused = new ArrayList<>();
        for (int i = 0; i < offsets.length; i++) {
            Commit c = list.get(i);
            KeyState s = state(c.key());
            if (c.epoch() != s.epoch()) {
                offsets[i] = -1;
                refused.add(new Refusal(i, Code.FENCED, s));
                continue;
            }
            offsets[i] = s.exists() ? Math.max(s.position().offset(), c.offset()) : c.offset();
            table.put(c.key(), new Position(offsets[i], index, c.epoch(), 0, false));
        }
        fail(losing);
        return new CommitAnswer(meta(), offsets, refused);
    }

    private synchronized SetAnswer set(SetRequest r) throws TidemarkException {
        sets++;
        fail(failing);
        fail(barring != null && barred.test(r.key()) ? barring : null);
        KeyState s = state(r.key());
        boolean act = !r.clusterId().equals(id) || r.epoch() != s.epoch();
        boolean same = r.exists() == s.exists() && (!s.exists() || r.replaces() == s.position().offset());
        if (act || !same) {
            throw new SetRefusedException("refused", s, !act);
        }
        index++;
        table.put(r.key(), new Position(r.offset(), index, index, 0, false));
        fail(losing);
        return new SetAnswer(meta(), state(r.key()));
    }

    private synchronized FetchAnswer fetch(List<OffsetKey> keys) throws TidemarkException {
        fetches++;
        fail(failing);
        fail(keys.stream().anyMatch(hidden) ? Code.DENIED : null);
        List<KeyState> states = new ArrayList<>();
        keys.forEach(k -> states.add(state(k)));
        return new FetchAnswer(meta(), states);
    }

    /** An operator's reset. */
    synchronized void reset(OffsetKey key, long offset) {
        lastAct = ++index;
        table.put(key, new Position(offset, index, index, 0, true));
    }

    /** An operator's removal. */
    synchronized void remove(OffsetKey key) {
        lastAct = ++index;
        table.remove(key);
        floors.put(key, index);
    }

    /** Another consumer's commit, under the epoch that the key has. */
    synchronized void commit(OffsetKey key, long offset) {
        index++;
        table.put(key, new Position(offset, index, state(key).epoch(), 0, false));
    }

    /** Puts another, empty, cluster in its place. */
    synchronized void replace() {
        table.clear();
        floors.clear();
        id = "c2";
        index = 1;
        lastAct = 0;
    }

    /** What is stored; -1: nothing. */
    synchronized long offset(OffsetKey key) {
        Position p = table.get(key);
        return p == null ? -1 : p.offset();
    }

    synchronized int commits() {
        return commits;
    }

    synchronized int sets() {
        return sets;
    }

    synchronized int fetches() {
        return fetches;
    }
}
