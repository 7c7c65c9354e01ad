package io.github.tidemarkmq.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Every call, against a real node. Each test has groups of its own. */
class ClusterTest {
    private static TestCluster cluster;
    private static TidemarkClient client;

    @BeforeAll
    static void start() throws Exception {
        cluster = TestCluster.start(1);
        client = cluster.client();
    }

    @AfterAll
    static void stop() throws Exception {
        client.close();
        cluster.close();
    }

    private static Deadline soon() {
        return Deadline.after(20, TimeUnit.SECONDS);
    }

    private static OffsetKey key(String group, int queue) {
        return new OffsetKey(group, "orders", "b1", queue);
    }

    private static KeyState read(OffsetKey key) throws TidemarkException {
        return client.fetch(Collections.singletonList(key), ReadAt.LINEARIZABLE, soon()).states().get(0);
    }

    private static Meta now() throws TidemarkException {
        return client.listKeys(KeyFilter.ALL, null, 1, ReadAt.LINEARIZABLE, soon()).meta();
    }

    private static CommitAnswer commit(Commit... commits) throws TidemarkException {
        return client.commit(now().clusterId(), Arrays.asList(commits), soon());
    }

    @Test
    void aCommitIsReadBackAndOnlyRaises() throws Exception {
        OffsetKey k = key("raise", 0);
        KeyState before = read(k);
        assertFalse(before.exists());
        assertEquals(0, before.position().offset());
        CommitAnswer a = commit(new Commit(k, 7, before.epoch()));
        assertTrue(a.accepted(0));
        assertEquals(7, a.offset(0));
        assertEquals(7, commit(new Commit(k, 5, before.epoch())).offset(0), "the larger stays, and is in the answer");
        KeyState after = read(k);
        assertTrue(after.exists());
        assertEquals(7, after.position().offset());
        assertEquals(before.epoch(), after.epoch());
        assertEquals(a.meta().index(), after.position().index());
        assertFalse(after.position().pending());
    }

    @Test
    void numbersAndNamesAreExact() throws Exception {
        List<OffsetKey> keys = Arrays.asList(
            new OffsetKey("exact", "%RETRY%g", "", 0),
            new OffsetKey("exact", "a/b+c&d=e f", "b\"r\\ok'er", 1),
            new OffsetKey("组一", "ns%テーマ", "b-😀", Integer.MAX_VALUE),
            new OffsetKey("exact", "héllo", "b1", 3));
        List<Commit> commits = keys.stream().map(k -> new Commit(k, Long.MAX_VALUE, 0)).collect(Collectors.toList());
        CommitAnswer a = client.commit(now().clusterId(), commits, soon());
        assertEquals(Collections.emptyList(), a.refusals());
        List<KeyState> states = client.fetch(keys, ReadAt.atLeast(a.meta().index()), soon()).states();
        for (int i = 0; i < keys.size(); i++) {
            assertEquals(Long.MAX_VALUE, a.offset(i));
            assertEquals(keys.get(i), states.get(i).key());
            assertEquals(Long.MAX_VALUE, states.get(i).position().offset());
        }
        KeyPage listed = client.listKeys(KeyFilter.ALL.group("exact").broker(""), null, 10, ReadAt.LOCAL, soon());
        assertEquals(Collections.singletonList(keys.get(0)), keysOf(listed), "the empty broker name is a name");
        listed = client.listKeys(KeyFilter.ALL.group("组一"), null, 10, ReadAt.LINEARIZABLE, soon());
        assertEquals(Collections.singletonList(keys.get(2)), keysOf(listed));
    }

    private static List<OffsetKey> keysOf(KeyPage page) {
        return page.states().stream().map(KeyState::key).collect(Collectors.toList());
    }

    @Test
    void impossibleNamesAreRefused() {
        for (String bad : new String[] {"", "a\nb", "half \ud800", longName(256), longName(250) + "组组"}) {
            TidemarkException e = assertThrows(TidemarkException.class,
                () -> commit(new Commit(new OffsetKey("g", bad, "b", 0), 1, 0)), bad);
            assertEquals(Code.INVALID, e.code(), e.getMessage());
        }
    }

    private static String longName(int n) {
        return String.join("", Collections.nCopies(n, "x"));
    }

    @Test
    void tenThousandCommitsInAnyOrderEachHaveTheirVerdict() throws Exception {
        OffsetKey moved = key("many", 777);
        client.reset(ActHeader.after(now()), Collections.singletonList(new Target(moved, 5)), soon());
        List<Commit> commits = new ArrayList<>();
        for (int i = 0; i < Cluster.MAX_COMMITS; i++) {
            commits.add(new Commit(key("many", i), i + 1L, 0));
        }
        Collections.shuffle(commits, new java.util.Random(1));
        CommitAnswer a = client.commit(now().clusterId(), commits, soon());
        assertEquals(Cluster.MAX_COMMITS, a.size());
        assertEquals(1, a.refusals().size());
        Refusal r = a.refusals().get(0);
        assertEquals(moved, commits.get(r.at()).key());
        assertEquals(Code.FENCED, r.code());
        assertEquals(5, r.state().position().offset());
        for (int i = 0; i < a.size(); i++) {
            assertEquals(i != r.at(), a.accepted(i));
            assertEquals(i == r.at() ? -1 : commits.get(i).offset(), a.offset(i));
        }
        List<OffsetKey> keys = commits.stream().map(Commit::key).collect(Collectors.toList());
        List<KeyState> states = client.fetch(keys, ReadAt.LINEARIZABLE, soon()).states();
        assertEquals(keys, states.stream().map(KeyState::key).collect(Collectors.toList()));
        commits.add(new Commit(key("many", 10_000), 1, 0));
        TidemarkException e = assertThrows(TidemarkException.class,
            () -> client.commit(now().clusterId(), commits, soon()));
        assertEquals(Code.INVALID, e.code());
    }

    @Test
    void aCommitWithoutItsClusterIsRefusedAndOneOfAnotherFenced() throws Exception {
        List<Commit> one = Collections.singletonList(new Commit(key("foreign", 0), 1, 0));
        assertEquals(Code.INVALID, assertThrows(TidemarkException.class, () -> client.commit("", one, soon())).code());
        CommitAnswer a = client.commit("0123456789abcdef0123456789abcdef", one, soon());
        assertEquals(Code.FENCED, a.refusals().get(0).code());
        assertFalse(read(key("foreign", 0)).exists());
    }

    @Test
    void anAtomicSetIsAppliedWholeOrNotAtAll() throws Exception {
        OffsetKey free = key("atomic", 0);
        OffsetKey moved = key("atomic", 1);
        client.reset(ActHeader.after(now()), Collections.singletonList(new Target(moved, 9)), soon());
        CommitAnswer a = client.commitAtomic(now().clusterId(),
            Arrays.asList(new Commit(free, 1, 0), new Commit(moved, 10, 0)), soon());
        assertEquals(Arrays.asList(Code.NOT_APPLIED, Code.FENCED),
            a.refusals().stream().map(Refusal::code).collect(Collectors.toList()));
        assertFalse(read(free).exists());
        assertEquals(9, read(moved).position().offset());
    }

    @Test
    void aSetComparesAndSets() throws Exception {
        OffsetKey k = key("set", 0);
        String id = now().clusterId();
        commit(new Commit(k, 100, 0));
        KeyState seen = read(k);
        SetRequest lower = SetRequest.replacing(k, id, seen.epoch(), 100, 40);
        SetAnswer done = client.set(lower, soon());
        assertEquals(40, done.state().position().offset());
        assertEquals(done.state().position().index(), done.state().epoch());
        SetRefusedException again = assertThrows(SetRefusedException.class, () -> client.set(lower, soon()));
        assertFalse(again.overtaken(), "its epoch has moved");
        assertEquals(40, again.state().position().offset());
        commit(new Commit(k, 41, done.state().epoch()));
        SetRefusedException late = assertThrows(SetRefusedException.class,
            () -> client.set(SetRequest.replacing(k, id, done.state().epoch(), 40, 30), soon()));
        assertTrue(late.overtaken(), "a commit came before");
        SetAnswer op = client.set(SetRequest.byOperator(read(k), id, 5), soon());
        assertTrue(op.state().position().pending());
        OffsetKey fresh = key("set", 1);
        assertEquals(3, client.set(SetRequest.creating(fresh, id, read(fresh).epoch(), 3), soon()).state().position()
            .offset());
    }

    @Test
    void aResetFencesAndIsPendingAndItsResendGetsTheFirstAnswer() throws Exception {
        OffsetKey k = key("reset", 0);
        commit(new Commit(k, 50, 0));
        ActHeader act = ActHeader.after(now());
        List<Target> targets = Collections.singletonList(new Target(k, 10));
        ActAnswer first = client.reset(act, targets, soon());
        assertTrue(first.done());
        assertEquals(1, first.changed());
        assertEquals(first.index(), read(k).epoch());
        assertEquals(first.index(), first.meta().lastAct());
        assertTrue(read(k).position().pending());
        assertEquals(Code.FENCED, commit(new Commit(k, 51, 0)).refusals().get(0).code());
        assertTrue(commit(new Commit(k, 11, first.index())).accepted(0));
        assertEquals(first.index(), client.reset(act, targets, soon()).index(), "done once");
        assertEquals(11, read(k).position().offset());
        ActHeader old = new ActHeader("00112233445566778899aabbccddeeff", act.base(), act.clusterId(), 0);
        ActRefusedException e = assertThrows(ActRefusedException.class, () -> client.reset(old, targets, soon()));
        assertEquals(Code.SUPERSEDED, e.code());
        assertEquals(Collections.singletonList(k), e.answer().names());
    }

    @Test
    void aRemoveTakesItsScopeAlone() throws Exception {
        OffsetKey[] keys = {new OffsetKey("remove", "removed1", "b1", 0), new OffsetKey("remove", "removed1", "b1", 1),
            new OffsetKey("remove", "removed1", "b2", 0), new OffsetKey("remove", "removed2", "b1", 0),
            new OffsetKey("remove2", "removed1", "b1", 0)};
        commit(Arrays.stream(keys).map(k -> new Commit(k, 1, 0)).toArray(Commit[]::new));
        assertEquals(1, client.remove(ActHeader.after(now()), Scope.queue(keys[1]), soon()).changed());
        assertEquals(1, client.remove(ActHeader.after(now()), Scope.topic("remove", "removed1").ofBroker("b1"), soon())
            .changed());
        assertFalse(read(keys[0]).exists());
        assertTrue(read(keys[2]).exists(), "another broker's");
        assertEquals(Code.FENCED, commit(new Commit(keys[0], 2, 0)).refusals().get(0).code(), "the floor has moved");
        assertEquals(1, client.remove(ActHeader.after(now()), Scope.topicOfAllGroups("removed1").ofBroker("b1"), soon())
            .changed());
        assertEquals(2, client.remove(ActHeader.after(now()), Scope.group("remove"), soon()).changed());
        assertEquals(0, client.remove(ActHeader.after(now()), Scope.group("nobody"), soon()).changed());
    }

    @Test
    void aCloneCopiesOneBrokersKeys() throws Exception {
        commit(new Commit(new OffsetKey("from", "t", "b1", 0), 5, 0), new Commit(new OffsetKey("from", "t", "b2", 0),
            6, 0), new Commit(new OffsetKey("from", "u", "b1", 0), 7, 0));
        ActAnswer a = client.cloneGroup(ActHeader.after(now()), "from", "to", "t", "b1", soon());
        assertEquals(1, a.changed());
        KeyPage to = client.listKeys(KeyFilter.ALL.group("to"), null, 10, ReadAt.LINEARIZABLE, soon());
        assertEquals(Collections.singletonList(new OffsetKey("to", "t", "b1", 0)), keysOf(to));
        assertEquals(5, to.states().get(0).position().offset());
        assertEquals(3, client.cloneGroup(ActHeader.after(now()), "from", "to2", "", null, soon()).changed());
        assertEquals(Code.NOT_FOUND, assertThrows(ActRefusedException.class,
            () -> client.cloneGroup(ActHeader.after(now()), "nobody", "to", "", null, soon())).code());
    }

    @Test
    void aClaimFencesWhoeverHadTheKeys() throws Exception {
        OffsetKey k = new OffsetKey("claimed", "t", "claimed-broker", 0);
        commit(new Commit(k, 5, 0));
        ActHeader act = ActHeader.after(now());
        ActAnswer claim = client.claimBroker(act, "claimed-broker", "a store in Bern", soon());
        KeyState after = read(k);
        assertEquals(claim.index(), after.epoch());
        assertEquals(claim.index(), after.claim());
        assertEquals(5, after.position().offset());
        assertNotEquals(claim.index(), after.position().index(), "no key is touched");
        assertEquals(claim.index(), client.claimBroker(act, "claimed-broker", "a store in Bern", soon()).index());
        ClaimAnswer held = client.claimOfBroker("claimed-broker", ReadAt.LINEARIZABLE, soon());
        assertEquals("a store in Bern", held.holder());
        assertEquals(claim.index(), held.index());
        assertEquals(0, client.claimOfBroker("never-claimed", ReadAt.LINEARIZABLE, soon()).index());
        Refusal old = commit(new Commit(k, 6, 0)).refusals().get(0);
        assertEquals(claim.index(), old.state().claim());
        assertTrue(commit(new Commit(k, 6, claim.index())).accepted(0));
        ActHeader stale = new ActHeader("ffeeddccbbaa99887766554433221100", act.base(), act.clusterId(), 0);
        assertEquals(Code.SUPERSEDED, assertThrows(ActRefusedException.class,
            () -> client.claimBroker(stale, "claimed-broker", "another", soon())).code());
        ActAnswer group = client.claimGroup(ActHeader.after(now()), "claimed", "an operator", soon());
        ActHeader through = ActHeader.after(now()).through(claim.index());
        assertEquals(Code.SUPERSEDED, assertThrows(ActRefusedException.class,
            () -> client.reset(through, Collections.singletonList(new Target(k, 1)), soon())).code());
        ActHeader holder = ActHeader.after(now()).through(group.index());
        assertTrue(client.reset(holder, Collections.singletonList(new Target(k, 1)), soon()).done());
        SetRefusedException set = assertThrows(SetRefusedException.class, () -> client.set(
            SetRequest.byOperator(read(k), now().clusterId(), 3).through(claim.index()), soon()));
        assertFalse(set.overtaken(), "a claim is in the way");
    }

    @Test
    void aListingIsPagedAndFiltered() throws Exception {
        List<OffsetKey> keys = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            keys.add(new OffsetKey("paged", "t" + i / 10, "b-paged", i % 10));
        }
        commit(keys.stream().map(k -> new Commit(k, 1, 0)).toArray(Commit[]::new));
        KeyFilter filter = KeyFilter.ALL.broker("b-paged");
        List<OffsetKey> seen = new ArrayList<>();
        KeyPage page = null;
        do {
            page = client.listKeys(filter, page == null ? null : page.last(), 10, ReadAt.LINEARIZABLE, soon());
            seen.addAll(keysOf(page));
        } while (page.more());
        assertEquals(keys, seen);
        Meta before = now();
        client.reset(ActHeader.after(before), Collections.singletonList(new Target(keys.get(3), 9)), soon());
        assertEquals(keys.subList(3, 4),
            keysOf(client.listKeys(filter.newerThan(before.index()), null, 10, ReadAt.LINEARIZABLE, soon())));
        assertEquals(keys.subList(3, 4), keysOf(client.listKeys(filter.pending(), null, 10, ReadAt.LOCAL, soon())));
        assertEquals(keys.subList(20, 25),
            keysOf(client.listKeys(filter.topic("t2"), null, 10, ReadAt.LINEARIZABLE, soon())));
    }

    @Test
    void anImportMergesOrReplacesInSteps() throws Exception {
        OffsetKey a = new OffsetKey("imported", "t", "b", 0);
        OffsetKey b = new OffsetKey("imported", "t", "b", 1);
        commit(new Commit(a, 50, 0));
        String hash = String.join("", Collections.nCopies(64, "a"));
        ActHeader merge = ActHeader.after(now());
        ActAnswer begun = client.importBegin(merge, ImportPlan.merge(hash, 2, 2), soon());
        assertFalse(begun.done());
        assertEquals(0, begun.next());
        ImportProgress running = client.status(soon()).running();
        assertEquals(merge.id(), running.id());
        assertEquals(hash, running.hash());
        assertEquals(Code.IMPORT_BUSY, assertThrows(ActRefusedException.class,
            () -> client.importBegin(ActHeader.after(now()), ImportPlan.merge(hash, 1, 1), soon())).code());
        List<Target> first = Collections.singletonList(new Target(a, 40));
        assertEquals(1, client.importChunk(merge, 0, first, soon()).next());
        assertEquals(1, client.importChunk(merge, 0, first, soon()).next(), "again, as after a lost answer");
        assertTrue(client.importChunk(merge, 1, Collections.singletonList(new Target(b, 60)), soon()).done());
        assertEquals(50, read(a).position().offset());
        assertEquals(60, read(b).position().offset());

        ActHeader replace = ActHeader.after(now());
        client.importBegin(replace, ImportPlan.replace("imported", hash, 1, 1), soon());
        client.importChunk(replace, 0, Collections.singletonList(new Target(a, 7)), soon());
        assertEquals(50, read(a).position().offset(), "nothing before the swap");
        assertTrue(client.importSwap(replace.rebased(now()), soon()).done());
        assertEquals(7, read(a).position().offset());
        assertFalse(read(b).exists());

        ActHeader dropped = ActHeader.after(now());
        client.importBegin(dropped, ImportPlan.replace("imported", hash, 1, 1), soon());
        client.importAbort(dropped, soon());
        assertEquals(Code.NO_IMPORT, assertThrows(ActRefusedException.class,
            () -> client.importChunk(ActHeader.after(now()), 0, first, soon())).code());
    }

    @Test
    void aStatusNamesTheClusterAndItsMembers() throws Exception {
        ClusterStatus s = client.status(soon());
        assertEquals(now().clusterId(), s.meta().clusterId());
        assertTrue(s.meta().clusterId().matches("[0-9a-f]{32}"));
        assertEquals("leader", s.state());
        assertEquals("", s.notReady());
        assertEquals(1, s.members().size());
        assertEquals(cluster.addresses()[0], s.members().get(0).apiAddress());
        assertTrue(s.members().get(0).leader() && s.members().get(0).voter());
        assertTrue(s.level() >= 1 && s.maxLevel() >= s.level());
    }

    @Test
    void readsOfAnotherClusterThanTheOneMeantAreRefused() throws Exception {
        try (TidemarkClient other = TidemarkClient.open(
            ClientOptions.seeds(cluster.addresses()).clusterId("0123456789abcdef0123456789abcdef").build())) {
            TidemarkException e = assertThrows(TidemarkException.class, () -> other.status(soon()));
            assertEquals(Code.FOREIGN_CLUSTER, e.code());
            assertTrue(e.getMessage().contains(now().clusterId()), e.getMessage());
            e = assertThrows(TidemarkException.class, () -> other.remove(ActHeader.after(now()), Scope.group("x"),
                soon()));
            assertEquals(Code.FOREIGN_CLUSTER, e.code());
        }
    }
}
