package io.github.tidemarkmq.client;

import java.util.List;

/**
 * A client of one cluster: it finds the leader from the seeds, keeps connections to it, and sends calls again within
 * their deadlines. One for a process is enough; up to {@link ClientOptions#maxCalls} calls are under way at once.
 */
public final class TidemarkClient implements Cluster {
    private TidemarkClient(ClientOptions options) {
    }

    /**
     * A client with these options. No node is contacted.
     *
     * @throws TidemarkException {@link Code#INVALID}: an address, a file or a bound is not what it should be
     */
    public static TidemarkClient open(ClientOptions options) throws TidemarkException {
        return new TidemarkClient(options);
    }

    private static TidemarkException absent() {
        return new TidemarkException(Code.UNREACHABLE, "not there yet");
    }

    @Override
    public ClusterStatus status(Deadline deadline) throws TidemarkException {
        throw absent();
    }

    @Override
    public CommitAnswer commit(String clusterId, List<Commit> commits, Deadline deadline) throws TidemarkException {
        throw absent();
    }

    @Override
    public CommitAnswer commitAtomic(String clusterId, List<Commit> commits, Deadline deadline)
        throws TidemarkException {
        throw absent();
    }

    @Override
    public SetAnswer set(SetRequest request, Deadline deadline) throws TidemarkException {
        throw absent();
    }

    @Override
    public FetchAnswer fetch(List<OffsetKey> keys, ReadAt at, Deadline deadline) throws TidemarkException {
        throw absent();
    }

    @Override
    public KeyPage listKeys(KeyFilter filter, OffsetKey after, int limit, ReadAt at, Deadline deadline)
        throws TidemarkException {
        throw absent();
    }

    @Override
    public ActAnswer reset(ActHeader act, List<Target> targets, Deadline deadline) throws TidemarkException {
        throw absent();
    }

    @Override
    public ActAnswer remove(ActHeader act, Scope scope, Deadline deadline) throws TidemarkException {
        throw absent();
    }

    @Override
    public ActAnswer cloneGroup(ActHeader act, String from, String to, String topic, String broker, Deadline deadline)
        throws TidemarkException {
        throw absent();
    }

    @Override
    public ActAnswer claimGroup(ActHeader act, String group, String holder, Deadline deadline)
        throws TidemarkException {
        throw absent();
    }

    @Override
    public ActAnswer claimBroker(ActHeader act, String broker, String holder, Deadline deadline)
        throws TidemarkException {
        throw absent();
    }

    @Override
    public ActAnswer importBegin(ActHeader act, ImportPlan plan, Deadline deadline) throws TidemarkException {
        throw absent();
    }

    @Override
    public ActAnswer importChunk(ActHeader act, int chunk, List<Target> targets, Deadline deadline)
        throws TidemarkException {
        throw absent();
    }

    @Override
    public ActAnswer importSwap(ActHeader act, Deadline deadline) throws TidemarkException {
        throw absent();
    }

    @Override
    public ActAnswer importAbort(ActHeader act, Deadline deadline) throws TidemarkException {
        throw absent();
    }

    @Override
    public void close() {
    }
}
