package io.github.tidemarkmq.client;

import java.util.List;

/**
 * The calls of a Tidemark cluster. {@link TidemarkClient} makes them; the interface lets code that builds on it be
 * tested without a cluster. Every method may be called from any thread, and blocks until its answer, its deadline or
 * {@link #close}; within the deadline it is sent again, to another node, where that is safe.
 *
 * <p>A {@link TidemarkException} whose outcome is not unknown says that the request is not applied and never will be.
 * After {@link Code#OUTCOME_UNKNOWN} the same may be sent again: a commit for ever, an act with its header, a set as
 * it was. An interrupt ends a call's waiting (not an answer that is being awaited from a node, which is a matter of
 * {@link ClientOptions.Builder#attemptMillis}); the thread stays interrupted.
 */
public interface Cluster extends AutoCloseable {
    /** The most commits, keys or targets in one request, and rows in one page. */
    int MAX_COMMITS = 10_000;

    /** How the first node that answers sees itself and the cluster. */
    ClusterStatus status(Deadline deadline) throws TidemarkException;

    /**
     * Commits up to {@link #MAX_COMMITS} offsets, each with a verdict of its own. Commits of one group, topic and
     * broker that stand together make the request smaller; the order is otherwise free.
     *
     * @param clusterId the cluster that the epochs were read from
     */
    CommitAnswer commit(String clusterId, List<Commit> commits, Deadline deadline) throws TidemarkException;

    /** As {@link #commit}, but if one commit is fenced, none is applied. */
    CommitAnswer commitAtomic(String clusterId, List<Commit> commits, Deadline deadline) throws TidemarkException;

    /**
     * Lowers or raises one key on purpose.
     *
     * @throws SetRefusedException it is not done and never will be
     */
    SetAnswer set(SetRequest request, Deadline deadline) throws TidemarkException;

    /** Reads the states of up to {@link #MAX_COMMITS} keys from one view of the table. */
    FetchAnswer fetch(List<OffsetKey> keys, ReadAt at, Deadline deadline) throws TidemarkException;

    /**
     * One page of the keys that a filter selects, in a stable order: a key that exists throughout is in exactly one.
     *
     * @param after {@link KeyPage#last} of the page before; null for the first
     * @param limit rows wanted, 1 to {@link #MAX_COMMITS}
     */
    KeyPage listKeys(KeyFilter filter, OffsetKey after, int limit, ReadAt at, Deadline deadline)
        throws TidemarkException;

    /**
     * Gives keys explicit offsets; they become pending.
     *
     * @throws ActRefusedException see its code: {@link Code#SUPERSEDED}, {@link Code#TOO_OLD}
     */
    ActAnswer reset(ActHeader act, List<Target> targets, Deadline deadline) throws TidemarkException;

    /** Removes the keys of a scope; there may be none. Refusals as with {@link #reset}. */
    ActAnswer remove(ActHeader act, Scope scope, Deadline deadline) throws TidemarkException;

    /**
     * Copies what one group has over another; what else that has stays. Refusals as with {@link #reset}, and
     * {@link Code#NOT_FOUND} where there is nothing to copy.
     *
     * @param topic only this topic; empty for all
     * @param broker only this broker's keys; null for those of all
     */
    ActAnswer cloneGroup(ActHeader act, String from, String to, String topic, String broker, Deadline deadline)
        throws TidemarkException;

    /**
     * Claims a group: whoever had its keys is fenced. {@link ActAnswer#index} is the claim, which goes into the
     * headers of the holder's acts. Refusals: {@link Code#SUPERSEDED}, {@link Code#TOO_OLD}, {@link Code#LIMIT}.
     *
     * @param holder the name of the claimant, for people
     */
    ActAnswer claimGroup(ActHeader act, String group, String holder, Deadline deadline) throws TidemarkException;

    /** Claims all keys of a broker, as {@link #claimGroup} does those of a group. */
    ActAnswer claimBroker(ActHeader act, String broker, String holder, Deadline deadline) throws TidemarkException;

    /** The newest claim of a broker's keys, and who holds it. */
    ClaimAnswer claimOfBroker(String broker, ReadAt at, Deadline deadline) throws TidemarkException;

    /**
     * Begins an import, or says how far the one of this id is ({@link ActAnswer#next}). All its steps carry the same
     * id. Refusal: {@link Code#IMPORT_BUSY}.
     */
    ActAnswer importBegin(ActHeader act, ImportPlan plan, Deadline deadline) throws TidemarkException;

    /**
     * Brings one chunk: its number from 0, its content in ascending order of keys (names by their UTF-8 bytes). The
     * last one of a merge ends the import. Refusal: {@link Code#NO_IMPORT}.
     */
    ActAnswer importChunk(ActHeader act, int chunk, List<Target> targets, Deadline deadline) throws TidemarkException;

    /**
     * Swaps a replace in, all or nothing. Its base is that of a read made just before ({@link ActHeader#rebased}).
     * Refusals: {@link Code#SUPERSEDED}, {@link Code#NO_IMPORT}.
     */
    ActAnswer importSwap(ActHeader act, Deadline deadline) throws TidemarkException;

    /** Drops an import and what it staged. Refusal: {@link Code#NO_IMPORT}. */
    ActAnswer importAbort(ActHeader act, Deadline deadline) throws TidemarkException;

    /** Ends what waits ({@link Code#CLOSED}, or unknown if it was sent) and takes no more. Does not throw. */
    @Override
    void close();
}
