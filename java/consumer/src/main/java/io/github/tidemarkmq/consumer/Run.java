package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Commit;
import io.github.tidemarkmq.client.CommitAnswer;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.Refusal;
import io.github.tidemarkmq.client.SetAnswer;
import io.github.tidemarkmq.client.SetRefusedException;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One run of sending: what changed of all queues and debts, first the commits, up to {@link #MOST} in a request, then
 * the own sets, one by one. One run goes at a time, so that a queue never has two things under way. It belongs to the
 * thread that makes it.
 */
final class Run implements Parts.Requests<Send> {
    /** The most commits, or keys, in a request: with the longest names they stay within what one may carry. */
    static final int MOST = 500;

    private final ProgressTable table;
    private final Cluster cluster;
    private final Deadline deadline;
    private final List<Send> sends = new ArrayList<>();
    /** The offsets to be persisted as they are, one of a queue. */
    private final List<Exact> exacts = new ArrayList<>();
    /** Of these, the ones that lower. */
    private final Map<OffsetKey, Long> lowered = new HashMap<>();
    /** Why some of them cannot even be sent; reported once the monitor is free. */
    private final Map<Exact, TidemarkException> unsendable = new HashMap<>();
    /** What this run found out, for its maker to report. */
    final Findings findings = new Findings();

    Run(ProgressTable table, Cluster cluster, Deadline deadline) {
        this.table = table;
        this.cluster = cluster;
        this.deadline = deadline;
    }

    /** Makes the run. */
    void go() {
        plan();
        try {
            commits();
            for (Send s : lowerings()) {
                set(s);
            }
        } finally {
            land();
        }
    }

    private void plan() {
        synchronized (table) {
            exacts.addAll(table.nextExacts());
            Map<OffsetKey, Send> chosen = new HashMap<>();
            exacts.forEach(e -> exactly(chosen, e));
            Set<OffsetKey> taken = new HashSet<>(chosen.keySet()); // what the memory says of these comes later
            table.debts().forEach((key, p) -> choose(taken, chosen, key, p));
            table.queues().forEach((key, p) -> choose(taken, chosen, key, p));
            sends.addAll(chosen.values());
            table.flying().addAll(chosen.keySet());
        }
    }

    private void choose(Set<OffsetKey> taken, Map<OffsetKey, Send> chosen, OffsetKey key, QueueProgress p) {
        if (taken.contains(key)) {
            return;
        }
        if (!p.read() && p.fenced() == null && p.value() != QueueProgress.NONE) {
            findings.unread.put(key, p.value());
        }
        Send s = Send.next(key, p);
        if (s != null) {
            chosen.put(key, s);
        }
    }

    private void exactly(Map<OffsetKey, Send> chosen, Exact e) {
        QueueProgress p = e.progress;
        if (p == null) {
            unsendable.put(e,
                new TidemarkException(Code.INVALID, "the queue was never read from the store: read it first"));
        } else if (p.fenced() != null) {
            unsendable.put(e, new TidemarkException(Code.FENCED, "the queue is fenced: " + p.fenced()));
        } else if (e.lowers && p.lowers(e.offset)) {
            lowered.put(e.key, e.offset);
            chosen.put(e.key, Send.lowering(e.key, p, e.offset));
        } else {
            p.committing(e.offset);
            chosen.put(e.key, Send.advance(e.key, p, e.offset));
        }
    }

    private void commits() {
        List<Send> list = new ArrayList<>(sends);
        list.removeIf(s -> s.set);
        new Parts<>(table, this).send(list);
    }

    @Override
    public void send(List<Send> batch) throws TidemarkException {
        List<Commit> commits = new ArrayList<>(batch.size());
        batch.forEach(s -> commits.add(s.commit()));
        CommitAnswer answer = cluster.commit(batch.get(0).cluster, commits, deadline);
        synchronized (table) {
            table.acts().hear(answer.meta());
            verdicts(batch, answer);
        }
    }

    @Override
    public void unanswered(List<Send> batch, TidemarkException e, boolean apart) {
        synchronized (table) {
            batch.forEach(s -> unanswered(s, e));
            if (apart && batch.size() == 1 && Parts.refused(e)) {
                giveUp(batch.get(0), "the cluster refused its offset: " + e.getMessage());
            }
        }
    }

    /** Gives up the debt of a queue that left, if it is one; whether it is. */
    private boolean giveUp(Send s, String why) {
        boolean owed = table.debts().remove(s.key, s.progress);
        if (owed) {
            findings.lost(s, why);
        }
        return owed;
    }

    private void verdicts(List<Send> batch, CommitAnswer answer) {
        findings.answered = true;
        for (int i = 0; i < batch.size(); i++) {
            if (answer.accepted(i)) {
                Send s = batch.get(i);
                s.progress.advanced(s.value, answer.offset(i));
                findings.persisted(s);
            }
        }
        for (Refusal r : answer.refusals()) {
            fence(batch.get(r.at()), Fence.Cause.MISSED_ACT, r.state());
        }
    }

    private void unanswered(Send s, TidemarkException e) {
        if (e.code() == Code.FOREIGN_CLUSTER) {
            fence(s, Fence.Cause.MISSED_ACT, null);
            return;
        }
        if (e.outcomeUnknown()) {
            s.progress.doubt(s.value);
        }
        findings.failed(s.key, e);
    }

    /** What is to be lowered now that the commits have their answers. */
    private List<Send> lowerings() {
        List<Send> list = new ArrayList<>();
        synchronized (table) {
            for (Send s : sends) {
                boolean counts = lowered.containsKey(s.key) || table.counts(s.key, s.progress);
                Send again = counts ? lowering(s) : null;
                if (again != null && again.set) {
                    list.add(again);
                }
            }
        }
        return list;
    }

    /** What comes after a send; null: nothing, or what the memory says has to wait for an offset that came before. */
    private Send lowering(Send s) {
        Long offset = lowered.get(s.key);
        if (offset != null) {
            return s.progress.live() ? Send.lowering(s.key, s.progress, offset) : null;
        }
        return table.awaitsExact(s.key, exacts) ? null : Send.next(s.key, s.progress);
    }

    private void set(Send s) {
        try {
            SetAnswer answer = cluster.set(s.request(), deadline);
            synchronized (table) {
                table.acts().hear(answer.meta());
                findings.answered = true;
                s.progress.moved(s.value, answer.state().position().index());
                findings.persisted(s);
            }
        } catch (SetRefusedException e) {
            refused(s, e.overtaken() ? Fence.Cause.OVERTAKEN : Fence.Cause.MISSED_ACT, e.state());
        } catch (TidemarkException e) {
            if (e.outcomeUnknown()) {
                refused(s, Fence.Cause.UNKNOWN, null);
            } else if (e.code() == Code.FENCED || e.code() == Code.FOREIGN_CLUSTER) {
                refused(s, Fence.Cause.MISSED_ACT, null);
            } else {
                unanswered(Collections.singletonList(s), e, true);
            }
        }
    }

    private void refused(Send s, Fence.Cause cause, KeyState state) {
        synchronized (table) {
            fence(s, cause, state);
        }
    }

    /** Fences the queue of a send, if it is the same still; a debt is given up. */
    private void fence(Send s, Fence.Cause cause, KeyState state) {
        findings.failed(s.key, new TidemarkException(Code.FENCED, "the queue is fenced: " + cause));
        if (!giveUp(s, "turned out to be fenced: " + cause)
            && table.queues().get(s.key) == s.progress) {
            s.progress.fence(cause);
            findings.fenced(s.key, s.progress, cause, state);
        }
    }

    /** Ends the run: debts that are paid are forgotten, and whoever waits continues. */
    private void land() {
        synchronized (table) {
            table.debts().values().removeIf(p -> !p.unsaid());
            table.flying().clear();
            exacts.forEach(table::decided);
            table.notifyAll();
        }
        for (Exact e : exacts) {
            e.done(failure(e));
        }
    }

    /** Why an offset that was to be persisted as it is was not; null: it was. */
    private TidemarkException failure(Exact e) {
        TidemarkException why = unsendable.getOrDefault(e, findings.failures.get(e.key));
        if (why == null && !findings.persisted.containsKey(e.key)) {
            return new TidemarkException(Code.OUTCOME_UNKNOWN, "the run of persisting was cut short");
        }
        return why;
    }
}
