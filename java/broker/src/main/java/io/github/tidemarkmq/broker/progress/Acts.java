package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.ActAnswer;
import io.github.tidemarkmq.client.ActHeader;
import io.github.tidemarkmq.client.ActRefusedException;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyFilter;
import io.github.tidemarkmq.client.KeyPage;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.Scope;
import io.github.tidemarkmq.client.Target;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * What tools do through this broker: in the cluster first, as one act within the time of a tool, and only then here.
 * Each carries the broker's claim, so that nothing is done through a broker that another has followed.
 */
final class Acts {
    private static final long TOLD_MILLIS = 500;

    private interface Call {
        ActAnswer send(ActHeader act, Deadline deadline) throws TidemarkException;
    }

    private final Cluster cluster;
    private final Options options;
    private final Board board;
    private final Table table;
    private final Claims claims;
    private final Watch watch;
    private final UnknownActs unknown = new UnknownActs(System::nanoTime);

    Acts(Cluster cluster, Options options, Board board, Table table, Claims claims, Watch watch) {
        this.cluster = cluster;
        this.options = options;
        this.board = board;
        this.table = table;
        this.claims = claims;
        this.watch = watch;
    }

    /** Removes what the cluster has of a scope at this broker, then what the table has. */
    void remove(Scope scope, Predicate<Queues> names) throws ActFailed {
        ActAnswer a = act("remove " + scope, (act, d) -> cluster.remove(act, scope.ofBroker(options.broker), d));
        List<KeyProgress> keys = table.select(names);
        if (a != null && a.kept() > 0) {
            follow(keys, "a removal"); // the answer does not name all that it left alone
        } else {
            long index = a == null ? 0 : a.meta().index();
            keys.forEach(k -> Takeover.removed(k, index, board));
        }
        board.outbox.flush(TOLD_MILLIS);
        refuseKept(a, "removed");
    }

    private void follow(List<KeyProgress> keys, String act) {
        try {
            watch.follow(keys);
        } catch (TidemarkException e) {
            board.lines.warn("tidemark: " + act + " is done in the cluster, and taken over here within a few seconds: "
                + e.getMessage());
        }
    }

    private static void refuseKept(ActAnswer a, String done) throws ActFailed {
        if (a != null && a.kept() > 0) {
            throw new ActFailed("Done in part: " + a.kept() + " queues were moved by somebody else at the same time,"
                + " and were left alone; " + a.changed() + " were " + done + ". Look at them, and repeat the command if"
                + " need be.", false, null);
        }
    }

    /** Copies a group's keys at this broker over another's, and reads those. Topic is null for all. */
    void cloneGroup(String from, String to, String topic) throws ActFailed {
        String on = topic == null ? "" : topic;
        ActAnswer a = act("clone " + from + " " + to + " " + on, (act, d) ->
            cluster.cloneGroup(act, from, to, on, options.broker, d));
        KeyFilter filter = KeyFilter.ALL.broker(options.broker).group(to);
        try {
            take(on.isEmpty() ? filter : filter.topic(on));
        } catch (TidemarkException e) {
            board.lines.warn("tidemark: what was cloned to " + to + " is read within a few seconds: " + e.getMessage());
        }
        refuseKept(a, "copied");
    }

    private void take(KeyFilter filter) throws TidemarkException {
        Pages pages = new Pages();
        KeyPage page;
        do {
            page = cluster.listKeys(filter, pages.after(), Cluster.MAX_COMMITS, ReadAt.LINEARIZABLE, within());
            page.states().forEach(s -> table.with(OffsetKeys.key(s.key()), k -> {
                Takeover.follow(k, s, board);
                return null;
            }));
        } while (pages.next(page));
    }

    /** Gives keys explicit offsets, and assigns them to their consumers. */
    void assign(Map<Key, Long> targets) throws ActFailed {
        List<Target> list = new ArrayList<>(targets.size());
        targets.forEach((k, offset) -> list.add(new Target(OffsetKeys.of(k, options.broker), offset)));
        ActAnswer a = act("reset " + targets, (act, d) -> cluster.reset(act, list, d));
        List<KeyProgress> keys = new ArrayList<>(targets.size());
        for (Key k : targets.keySet()) {
            keys.add(table.with(k, p -> p));
        }
        follow(keys, "a reset");
        board.outbox.flush(TOLD_MILLIS);
        refuseKept(a, "reset");
    }

    private Deadline within() {
        return Deadline.after(options.actMillis, TimeUnit.MILLISECONDS);
    }

    /** Sends an act; null if there was nothing to do. */
    private ActAnswer act(String what, Call call) throws ActFailed {
        if (!board.view.master()) {
            throw new ActFailed("This broker is a slave, which changes no offsets on purpose: send it to the master.",
                false, null);
        }
        if (board.view.claim == 0) {
            throw new ActFailed("Not done: this broker has not claimed its name yet, since the cluster did not answer."
                + " Repeat the command once brokerStatus says tidemarkClusterRead.", false, null);
        }
        Deadline deadline = within();
        ActHeader act = null;
        try {
            act = header(what, deadline);
            ActAnswer a = call.send(act, deadline);
            unknown.forget(what);
            return a;
        } catch (ActRefusedException e) {
            unknown.forget(what);
            if (e.code() == Code.NOT_FOUND) {
                return null;
            }
            throw failed(e, act);
        } catch (TidemarkException e) {
            if (e.outcomeUnknown()) {
                unknown.put(what, act);
            }
            throw failed(e, act);
        }
    }

    private ActHeader header(String what, Deadline deadline) throws TidemarkException {
        ActHeader h = unknown.get(what);
        return h != null ? h : ActHeader.after(claims.look(deadline).meta()).through(board.view.claim);
    }

    private ActFailed failed(TidemarkException e, ActHeader act) {
        if (e.outcomeUnknown() && act != null) {
            return new ActFailed("The cluster has not answered in time whether it is done: it may be, or may still be."
                + " Look at the offsets, or repeat the command, which does it once (act " + act.id() + ").", true, e);
        }
        if (e.code() == Code.SUPERSEDED) {
            return new ActFailed("Not done: somebody else moved the same offsets, or claimed this broker's name, at the"
                + " same time. Look at the offsets, and repeat the command if need be.", false, e);
        }
        return new ActFailed("Not done: " + e.getMessage() + ".", false, e);
    }
}
