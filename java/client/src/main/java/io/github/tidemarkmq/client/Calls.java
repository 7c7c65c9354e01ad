package io.github.tidemarkmq.client;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Sends a call until it has an answer, may not be sent again, or its time is up. */
final class Calls implements AutoCloseable {
    /** By how much the time that a node is given is cut, so that its own word comes first: a tenth, at most this. */
    private static final long MARGIN_MILLIS = 50;
    private static final long PAUSE_MILLIS = 20;
    private static final long MAX_PAUSE_MILLIS = 500;

    private final Routes routes;
    private final Connections connections;
    private final Caller caller;
    private final long attemptMillis;
    /** The only cluster whose reads are taken; empty for any. */
    private final String clusterId;
    private final CountDownLatch closed = new CountDownLatch(1);

    Calls(Routes routes, Connections connections, Caller caller, long attemptMillis, String clusterId) {
        this.routes = routes;
        this.connections = connections;
        this.caller = caller;
        this.attemptMillis = attemptMillis;
        this.clusterId = clusterId;
    }

    /** Reads an answer once it is there. */
    interface Judge<T, R> {
        /** Judges an answer; resent: an earlier send may have been done. */
        R judge(T answer, boolean resent) throws TidemarkException;
    }

    /** Runs a call whose answer is its result. */
    <T extends Answer> T run(Request<T> request, Deadline deadline) throws TidemarkException {
        return run(request, deadline, (answer, resent) -> answer);
    }

    /** Runs a call whose answer is judged by the fate of earlier sends. */
    <T extends Answer, R> R run(Request<T> request, Deadline deadline, Judge<T, R> judge) throws TidemarkException {
        Trial trial = new Trial(request);
        T answer;
        try {
            connections.enter(deadline);
        } catch (Failure f) {
            throw new TidemarkException(over() ? Code.CLOSED : f.code(), request + ": " + f.getMessage(), f);
        }
        try {
            answer = send(trial, request, deadline);
        } finally {
            connections.leave();
        }
        return judge.judge(answer, trial.resent());
    }

    private <T extends Answer> T send(Trial trial, Request<T> request, Deadline deadline) throws TidemarkException {
        while (true) {
            if (over()) {
                throw closedBy(trial);
            }
            if (deadline.passed()) {
                throw trial.end("its time is up");
            }
            trial.begin();
            Address address = routes.now();
            try {
                return accepted(address, request, caller.once(address, request, patience(deadline), deadline));
            } catch (Failure f) {
                follow(address, f, deadline);
                trial.note(f, deadline.passed());
                next(trial, f, deadline);
            }
        }
    }

    /** Returns when the call may be sent again; else throws its failure. */
    private void next(Trial trial, Failure f, Deadline deadline) throws TidemarkException {
        if (over()) {
            throw closedBy(trial);
        }
        if (!trial.again(f)) {
            throw trial.end("");
        }
        if (deadline.passed()) {
            return; // the loop has the words for that
        }
        boolean toldWhere = f.broken() || !f.leader().isEmpty();
        long millis = pause(toldWhere ? trial.sends() - 1 : trial.sends());
        try {
            closed.await(Math.min(millis, deadline.millis()), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw trial.end("the thread was interrupted");
        }
    }

    private TidemarkException closedBy(Trial trial) {
        if (trial.resent()) {
            return trial.end("the client was closed");
        }
        return new TidemarkException(Code.CLOSED, "the client is closed");
    }

    private boolean over() {
        return closed.getCount() == 0;
    }

    /** Learns from an answer where to go, and refuses one of another cluster than the one meant. */
    private <T extends Answer> T accepted(Address address, Request<T> request, T answer) throws Failure {
        Meta meta = answer.meta();
        boolean reading = request.kind() == Request.Kind.READING;
        if (reading && !clusterId.isEmpty() && !meta.clusterId().equals(clusterId)) {
            if (meta.clusterId().isEmpty()) {
                throw Failure.answered(Code.NOT_READY, address + " belongs to no cluster yet", "");
            }
            throw Failure.answered(Code.FOREIGN_CLUSTER, address + " belongs to the cluster " + meta.clusterId()
                + " and not to " + clusterId + "; check the addresses", "");
        }
        routes.works(address);
        routes.learn(meta.leader());
        return answer;
    }

    /** Follows a failure: to the leader that it names, or away from the node. */
    private void follow(Address address, Failure f, Deadline deadline) {
        if (f.broken()) {
            caller.forget(address);
            routes.leave(address, !deadline.passed());
        } else if (!f.leader().isEmpty()) {
            routes.learn(f.leader());
        } else if (leaves(f.code())) {
            routes.leave(address, false);
        }
    }

    private static boolean leaves(Code code) {
        switch (code) {
            case NOT_LEADER:
            case NOT_READY:
            case NO_LEADER:
            case CLOSED:
            case OUTCOME_UNKNOWN:
            case FOREIGN_CLUSTER:
                return true;
            default:
                return false;
        }
    }

    /** How long a node may take. */
    private long patience(Deadline deadline) {
        long left = deadline.remaining(TimeUnit.MILLISECONDS);
        return Math.max(1, Math.min(attemptMillis, left - Math.min(left / 10, MARGIN_MILLIS)));
    }

    /** The pause after the n-th failure, in milliseconds: none, then doubling from 20 to 500, half of it random. */
    private static long pause(int n) {
        if (n <= 0) {
            return 0;
        }
        long most = Math.min(MAX_PAUSE_MILLIS, PAUSE_MILLIS << Math.min(n - 1, 10));
        return most / 2 + ThreadLocalRandom.current().nextLong(most / 2 + 1);
    }

    /** Ends what waits. */
    @Override
    public void close() {
        closed.countDown();
        connections.close();
    }
}
