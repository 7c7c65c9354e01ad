package io.github.tidemarkmq.client;

import java.util.ArrayList;
import java.util.List;

/**
 * A client of one cluster: it finds the leader from the seeds, keeps connections to it, and sends calls again within
 * their deadlines. One for a process is enough; up to {@link ClientOptions#maxCalls} calls are under way at once.
 */
public final class TidemarkClient implements Cluster {
    private static final int MAX_SEEDS = 64;
    private static final int MAX_CALLS = 1024;
    private static final long MIN_ATTEMPT_MILLIS = 10;
    private static final long MAX_ATTEMPT_MILLIS = 60_000;

    private final Alarms alarms = new Alarms();
    private final Calls calls;
    private final String clusterId;

    private TidemarkClient(ClientOptions o, List<Address> seeds, Tls tls, Credentials credentials) {
        Connections connections = new Connections(new Dialer(alarms, tls), o.maxCalls());
        Caller caller = new Caller(connections, alarms, credentials);
        calls = new Calls(new Routes(seeds), connections, caller, o.attemptMillis(), o.clusterId());
        clusterId = o.clusterId();
    }

    /**
     * A client with these options. Files are read; no node is contacted.
     *
     * @throws TidemarkException {@link Code#INVALID}: an address, a file or a bound is not what it should be
     */
    public static TidemarkClient open(ClientOptions o) throws TidemarkException {
        check(o.maxCalls() >= 1 && o.maxCalls() <= MAX_CALLS,
            "maxCalls is " + o.maxCalls() + "; 1 to " + MAX_CALLS + " are possible");
        check(o.attemptMillis() >= MIN_ATTEMPT_MILLIS && o.attemptMillis() <= MAX_ATTEMPT_MILLIS, "attemptMillis is "
            + o.attemptMillis() + "; " + MIN_ATTEMPT_MILLIS + " to " + MAX_ATTEMPT_MILLIS + " are possible");
        check(o.clusterId().isEmpty() || o.clusterId().matches("[0-9a-f]{32}"),
            "the cluster id " + Names.quoted(o.clusterId()) + " is not 32 hexadecimal digits");
        boolean secure = secure(o);
        check(secure || o.insecureToken() || o.token().isEmpty() && o.tokenFile().isEmpty(),
            "a token is not sent without TLS, where others can read it: use https:// and TLS files, or insecureToken");
        List<Address> seeds = addresses(o.addresses());
        TlsFiles files = o.tls() == null ? new TlsFiles("", "", "") : o.tls();
        return new TidemarkClient(o, seeds, secure ? Tls.of(files, o.lookMillis()) : null,
            Credentials.of(o.token(), o.tokenFile(), o.lookMillis()));
    }

    private static void check(boolean holds, String fault) throws TidemarkException {
        if (!holds) {
            throw new TidemarkException(Code.INVALID, fault);
        }
    }

    /** Whether TLS is spoken, with all nodes or with none. */
    private static boolean secure(ClientOptions o) throws TidemarkException {
        long https = o.addresses().stream().filter(s -> s.startsWith("https://")).count();
        long http = o.addresses().stream().filter(s -> s.startsWith("http://")).count();
        check(https == 0 || https == o.addresses().size(), "some addresses begin with https:// and some do not");
        check(o.tls() == null || http == 0, "addresses begin with http:// though TLS files are given");
        return https > 0 || o.tls() != null;
    }

    private static List<Address> addresses(List<String> seeds) throws TidemarkException {
        check(!seeds.isEmpty() && seeds.size() <= MAX_SEEDS, seeds.size() + " addresses; give 1 to " + MAX_SEEDS);
        List<Address> list = new ArrayList<>();
        for (String seed : seeds) {
            String bare = seed.trim().replaceFirst("^https?://", "").replaceFirst("/$", "");
            Address address = Address.parse(bare);
            check(address != null, "the address " + Names.quoted(seed) + " is not HOST:PORT, as n1.example:7411 is");
            list.add(address);
        }
        return list;
    }

    @Override
    public ClusterStatus status(Deadline deadline) throws TidemarkException {
        return calls.run(Request.of(Request.Kind.READING, "ClusterService/Status", "", new ProtoWriter(0),
            Request.NO_TIMEOUT, StatusMessages::answer), deadline);
    }

    @Override
    public CommitAnswer commit(String cluster, List<Commit> commits, Deadline deadline) throws TidemarkException {
        return commit(cluster, commits, false, deadline);
    }

    @Override
    public CommitAnswer commitAtomic(String cluster, List<Commit> commits, Deadline deadline)
        throws TidemarkException {
        return commit(cluster, commits, true, deadline);
    }

    private CommitAnswer commit(String cluster, List<Commit> commits, boolean atomic, Deadline deadline)
        throws TidemarkException {
        meant(cluster);
        bound("commits", commits);
        CommitMessages m = new CommitMessages(commits);
        return calls.run(Request.of(Request.Kind.WRITING, "OffsetService/Commit", commits.get(0).key(),
            m.request(cluster, atomic), CommitMessages.TIMEOUT, m::answer), deadline);
    }

    @Override
    public SetAnswer set(SetRequest request, Deadline deadline) throws TidemarkException {
        meant(request.clusterId());
        Request<SetMessages.Verdict> r = Request.of(Request.Kind.WRITING, "OffsetService/Set", request.key(),
            SetMessages.request(request), SetMessages.TIMEOUT, in -> SetMessages.answer(request.key(), in));
        return calls.run(r, deadline, (verdict, resent) -> SetMessages.judge(request, verdict, resent));
    }

    @Override
    public FetchAnswer fetch(List<OffsetKey> keys, ReadAt at, Deadline deadline) throws TidemarkException {
        bound("keys", keys);
        return calls.run(Request.of(Request.Kind.READING, "OffsetService/Fetch", keys.get(0),
            ReadMessages.fetch(keys, at), ReadMessages.FETCH_TIMEOUT, in -> ReadMessages.fetched(keys, in)), deadline);
    }

    @Override
    public KeyPage listKeys(KeyFilter filter, OffsetKey after, int limit, ReadAt at, Deadline deadline)
        throws TidemarkException {
        check(limit >= 1 && limit <= MAX_COMMITS,
            "a page of " + limit + " rows; 1 to " + MAX_COMMITS + " are possible");
        return calls.run(Request.of(Request.Kind.READING, "GroupService/List", filter,
            ReadMessages.list(filter, after, limit, at), ReadMessages.LIST_TIMEOUT, ReadMessages::page), deadline);
    }

    @Override
    public ActAnswer reset(ActHeader act, List<Target> targets, Deadline deadline) throws TidemarkException {
        bound("targets", targets);
        return act("Reset", act, targets.get(0).key(), ActMessages.reset(act, targets), deadline);
    }

    @Override
    public ActAnswer remove(ActHeader act, Scope scope, Deadline deadline) throws TidemarkException {
        return act("Remove", act, scope, ActMessages.remove(act, scope), deadline);
    }

    @Override
    public ActAnswer cloneGroup(ActHeader act, String from, String to, String topic, String broker, Deadline deadline)
        throws TidemarkException {
        ProtoWriter body = ActMessages.cloneGroup(act, from, to, topic, broker);
        return act("Clone", act, Names.plain(from) + " to " + Names.plain(to), body, deadline);
    }

    @Override
    public ActAnswer claimGroup(ActHeader act, String group, String holder, Deadline deadline)
        throws TidemarkException {
        ProtoWriter body = ActMessages.claimGroup(act, group, holder);
        return act("Claim", act, "group " + Names.plain(group), body, deadline);
    }

    @Override
    public ActAnswer claimBroker(ActHeader act, String broker, String holder, Deadline deadline)
        throws TidemarkException {
        ProtoWriter body = ActMessages.claimBroker(act, broker, holder);
        return act("Claim", act, "broker " + Names.plain(broker), body, deadline);
    }

    @Override
    public ClaimAnswer claimOfBroker(String broker, ReadAt at, Deadline deadline) throws TidemarkException {
        return calls.run(Request.of(Request.Kind.READING, "GroupService/Claims", Names.plain(broker),
            ReadMessages.claimOf(broker, at), ReadMessages.CLAIMS_TIMEOUT, ReadMessages::claim), deadline);
    }

    @Override
    public ActAnswer importBegin(ActHeader act, ImportPlan plan, Deadline deadline) throws TidemarkException {
        return act("Import", act, "begin", ActMessages.begin(act, plan), deadline);
    }

    @Override
    public ActAnswer importChunk(ActHeader act, int chunk, List<Target> targets, Deadline deadline)
        throws TidemarkException {
        bound("targets", targets);
        return act("Import", act, "chunk " + chunk, ActMessages.chunk(act, chunk, targets), deadline);
    }

    @Override
    public ActAnswer importSwap(ActHeader act, Deadline deadline) throws TidemarkException {
        return act("Import", act, "swap", ActMessages.swap(act), deadline);
    }

    @Override
    public ActAnswer importAbort(ActHeader act, Deadline deadline) throws TidemarkException {
        return act("Import", act, "abort", ActMessages.abort(act), deadline);
    }

    private ActAnswer act(String method, ActHeader act, Object subject, ProtoWriter body, Deadline deadline)
        throws TidemarkException {
        meant(act.clusterId());
        Request<ActAnswer> r = Request.act(method, subject, body);
        return calls.run(r, deadline, (answer, resent) -> ActMessages.judge(r.toString(), answer, resent));
    }

    /** Refuses what is meant for another cluster than this client's. */
    private void meant(String cluster) throws TidemarkException {
        if (!clusterId.isEmpty() && !cluster.equals(clusterId)) {
            throw new TidemarkException(Code.FOREIGN_CLUSTER, "the request names the cluster " + Names.quoted(cluster)
                + "; this client is for " + clusterId);
        }
    }

    private static void bound(String what, List<?> list) throws TidemarkException {
        check(!list.isEmpty() && list.size() <= MAX_COMMITS,
            list.size() + " " + what + " in one request; 1 to " + MAX_COMMITS + " are possible");
    }

    @Override
    public void close() {
        calls.close();
        alarms.close();
    }
}
