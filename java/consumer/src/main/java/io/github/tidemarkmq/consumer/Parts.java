package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/**
 * Makes the requests of one kind of a run so that a queue that the cluster refuses, over a limit or denied, holds up
 * itself alone, though a request is refused whole. One that is refused is sent again in parts: as they were refused
 * last time, and each of these in halves, the largest first, and of equal ones those that have waited longest. What was
 * refused stays apart from the rest until it is answered, so that the next run continues where this one ended. The Go
 * library does the same ({@code client/send.go}). It belongs to the thread that makes the run.
 */
final class Parts<T extends Parts.Item> {
    /** How many parts a run sends again: enough to find three queues among {@link Run#MOST}, few if all are. */
    static final int MOST_HALVED = 32;

    /** A queue in a request. */
    interface Item {
        OffsetKey key();

        /** What a request can name only one of. */
        String cluster();

        Suspicion suspicion();
    }

    /** Requests of one kind. */
    interface Requests<T> {
        /** Sends one request, and takes in its answer. What it throws concerns all of it. */
        void send(List<T> list) throws TidemarkException;

        /**
         * Takes in that these have no answer, and are not sent again in this run.
         *
         * @param apart whether they had a request of their own; if not, another queue may be to blame
         */
        void unanswered(List<T> list, TidemarkException why, boolean apart);
    }

    /** What was refused together, and why. */
    private static final class Refused<T> {
        final List<T> list;
        final TidemarkException why;

        Refused(List<T> list, TidemarkException why) {
            this.list = list;
            this.why = why;
        }
    }

    private final ProgressTable table;
    private final Requests<T> requests;
    private int halved;

    Parts(ProgressTable table, Requests<T> requests) {
        this.table = table;
        this.requests = requests;
    }

    /** Whether a request was refused for what some of it asks. */
    static boolean refused(TidemarkException e) {
        return e.code() == Code.LIMIT || e.code() == Code.DENIED || e.code() == Code.INVALID;
    }

    /** Sends these, in any order, up to {@link Run#MOST} in a request. */
    void send(List<T> all) {
        List<T> list = new ArrayList<>(all);
        list.sort(Comparator.<T, Boolean>comparing(i -> i.suspicion().suspect())
            .thenComparing(Item::cluster)
            .thenComparingLong(i -> i.suspicion().refusal)
            .thenComparing(Item::key));
        for (int from = 0; from < list.size();) {
            int to = fitting(list, from);
            whole(list.subList(from, to));
            from = to;
        }
    }

    /** How far the request that begins there may go. */
    private int fitting(List<T> list, int from) {
        T first = list.get(from);
        int to = from + 1;
        while (to < list.size() && to - from < Run.MOST && list.get(to).cluster().equals(first.cluster())
            && list.get(to).suspicion().suspect() == first.suspicion().suspect()) {
            to++;
        }
        return to;
    }

    private void whole(List<T> list) {
        Deque<Refused<T>> parts = new ArrayDeque<>(attempt(list));
        for (Refused<T> p = parts.poll(); p != null; p = parts.poll()) {
            if (halved == MOST_HALVED) {
                requests.unanswered(p.list, p.why, false);
                continue;
            }
            halved++;
            int half = p.list.size() / 2;
            if (half > 0) {
                parts.addAll(attempt(p.list.subList(0, half)));
            }
            parts.addAll(attempt(p.list.subList(half, p.list.size())));
        }
    }

    /** Sends a request. If it is refused, and about more than one queue: its parts, the largest first. */
    private List<Refused<T>> attempt(List<T> list) {
        try {
            requests.send(list);
            list.forEach(i -> i.suspicion().refusal = 0);
            return Collections.emptyList();
        } catch (TidemarkException e) {
            List<Refused<T>> parts = refused(e) ? together(list, e) : Collections.emptyList();
            if (parts.size() == 1) {
                long refusal = table.refusal();
                list.forEach(i -> i.suspicion().refusal = refusal);
            }
            if (parts.isEmpty() || list.size() == 1) {
                requests.unanswered(list, e, true);
                return Collections.emptyList();
            }
            parts.sort(Comparator.comparingInt(p -> -p.list.size()));
            return parts;
        }
    }

    /** Takes a list apart into what was last refused together. */
    private static <T extends Item> List<Refused<T>> together(List<T> list, TidemarkException why) {
        List<Refused<T>> parts = new ArrayList<>();
        int from = 0;
        for (int i = 1; i <= list.size(); i++) {
            if (i == list.size() || list.get(i).suspicion().refusal != list.get(from).suspicion().refusal) {
                parts.add(new Refused<>(list.subList(from, i), why));
                from = i;
            }
        }
        return parts;
    }
}
