package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.broker.planted.Mistake;
import io.github.tidemarkmq.client.ActHeader;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.ClusterStatus;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.KeyPage;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * How a broker comes to the keys of its name, at its start, at a promotion, when the cluster is back: it settles what
 * its file holds, claims the name as a master, and reads all keys. One at a time; nothing is sent meanwhile.
 */
final class Arrival {
    /** With the longest names, so many stay within what a request may carry. */
    private static final int BATCH = 1_000;
    private static final long READ_MILLIS = 5_000;

    private final Cluster cluster;
    private final Options options;
    private final Board board;
    private final Table table;
    private final Claims claims;
    private final Walk walk;
    private final Leftovers leftovers;
    private final Contact contact;
    private OffsetFile file;
    /** What the file held is in the cluster, or is not wanted: it may be written over. */
    private volatile boolean fileSettled;
    /** The last read of all keys did not end: what it met counts as unread at the next one. */
    private boolean brokenOff;

    Arrival(Cluster cluster, Options options, Board board, Table table, Claims claims, Walk walk,
        Contact contact) {
        this.cluster = cluster;
        this.options = options;
        this.board = board;
        this.table = table;
        this.walk = walk;
        this.contact = contact;
        this.claims = claims;
        this.leftovers = new Leftovers(cluster, options, board.lines);
    }

    /** The file of this start; once. A slave's may be empty where its master's is not. */
    void file(OffsetFile f, Role role) {
        file = f;
        fileSettled = f.isEmpty() && role == Role.MASTER;
    }

    boolean fileSettled() {
        return fileSettled;
    }

    /** Whether no value of POP's can be one that the file alone has. */
    boolean popYields() {
        return fileSettled || file.isEmpty();
    }

    /**
     * Comes to the keys.
     *
     * @throws StartRefused it must not
     * @throws TidemarkException the cluster does not answer, or refuses; trying again is safe
     */
    void arrive(Deadline deadline) throws StartRefused, TidemarkException {
        KeyPage page = claims.look(deadline);
        String id = page.meta().clusterId();
        if (!board.view.clusterId.isEmpty() && !board.view.clusterId.equals(id)) {
            throw Contact.foreign(page.meta(), board.view.clusterId);
        }
        if (!fileSettled || brokenOff) {
            boolean all = !fileSettled;
            table.forEach(k -> Takeover.unread(k, all));
        }
        if (board.view.master()) {
            arriveAsMaster(page, deadline);
        } else {
            arriveAsSlave(page, deadline);
        }
    }

    private void arriveAsMaster(KeyPage page, Deadline deadline) throws StartRefused, TidemarkException {
        Holder us = new Holder(options.holder.get(), board.view.epoch);
        claims.check(us, deadline);
        FileFate fate = fileSettled ? FileFate.FOLLOW : FileFate.of(file, page, options);
        List<Mark.Unsent> refused = fileSettled || fate != FileFate.FOLLOW ? Collections.emptyList()
            : leftovers.send(file.mark(), page.meta().clusterId(), true, deadline);
        Claims.Claim claim = claims.take(us, () -> board.view.master(), deadline);
        if (!claim.clusterId.equals(page.meta().clusterId())) {
            throw Contact.foreign(claims.look(deadline).meta(), page.meta().clusterId());
        }
        boolean brought = fate == FileFate.IMPORT && bring(page.meta(), claim.index);
        boolean isMerged = fate == FileFate.IMPORT && !brought && options.unmarked == Options.Unmarked.MERGE;
        if (fate == FileFate.MERGE || isMerged) {
            load();
        } else if (fate == FileFate.FOLLOW && !fileSettled) {
            loadMark(claim.clusterId);
        }
        refused.forEach(u -> merge(u.key, u.offset));
        read(claim.clusterId, claim.index, since(fate, page.meta()));
        if (brought && options.unmarked == Options.Unmarked.REFUSE) {
            verify();
        }
        fileSettled = true;
    }

    private void arriveAsSlave(KeyPage page, Deadline deadline) throws TidemarkException {
        Mark mark = fileSettled ? null : file.mark();
        List<Mark.Unsent> refused = leftovers.send(mark, page.meta().clusterId(), false, deadline);
        loadMark(page.meta().clusterId());
        refused.forEach(u -> merge(u.key, u.offset));
        read(page.meta().clusterId(), 0, since(FileFate.FOLLOW, page.meta()));
        boolean marked = mark != null && mark.clusterId.equals(page.meta().clusterId()) && mark.importId.isEmpty();
        fileSettled |= marked || !page.states().isEmpty() && isImportOver(page.meta(), deadline);
        if (!fileSettled) {
            board.lines.warn("tidemark: this slave's file has " + file.rows().size() + " offsets, and its master has"
                + " not brought its own into the cluster yet, as far as is known. Start the master with the jar; until"
                + " it says that it has read the cluster, this slave sends nothing, and should not become the master.");
        }
    }

    /** No import was under way when the cluster was there; one that is brings keys in one by one. */
    private boolean isImportOver(Meta there, Deadline deadline) {
        try {
            ClusterStatus s = cluster.status(deadline);
            return s.running() == null && s.meta().clusterId().equals(there.clusterId())
                && s.meta().index() >= there.index();
        } catch (TidemarkException e) {
            return false; // its master says so later
        }
    }

    /** Whatever this slave's file has, its master has brought it in. */
    void settle() {
        if (!fileSettled) {
            fileSettled = true;
            board.lines.info("tidemark: the master of broker \"" + options.broker + "\" has read the cluster: so this"
                + " slave's offsets are the cluster's");
        }
    }

    /**
     * Imports the file. Its mark keeps the id from before the first step on, so that the next start continues it.
     *
     * @return false if an earlier start had brought it in whole: what is lower in the cluster was lowered since
     */
    private boolean bring(Meta base, long claim) throws StartRefused, TidemarkException {
        Mark mark = file.mark();
        String id = base.clusterId();
        boolean begun = mark != null && !mark.importId.isEmpty() && mark.clusterId.equals(id);
        ActHeader act = begun ? new ActHeader(mark.importId, mark.importBase, id, claim)
            : ActHeader.after(base).through(claim);
        board.lines.info("tidemark: " + file.rows().size() + " offsets of " + file.path() + " are being imported as"
            + " broker \"" + options.broker + "\"" + (begun ? ", going on with an earlier start" : "")
            + (file.skipped() == 0 ? "" : "; " + file.skipped() + " entries are no offsets, and are left out"));
        try {
            if (!begun) {
                file.writeMarked(Mark.importing(id, options.broker, act.id(), act.base()));
            }
            return new ImportFile(file.rows(), options.broker, contact::pause).send(cluster, act);
        } catch (IOException e) {
            throw new StartRefused("The mark of an import cannot be written to " + file.path() + ": " + e
                + ". Nothing has been imported. See to the disk and its rights, and start again.", e);
        } catch (TidemarkException e) {
            throw refused(e);
        }
    }

    private StartRefused refused(TidemarkException e) throws TidemarkException {
        if (e.code() == Code.IMPORT_BUSY) {
            return new StartRefused("Another import has been under way in the cluster for too long, so this broker's"
                + " first one cannot begin. Look what it is (tidemark cluster status), wait for it, or end it (tidemark import --abort --execute), and start again.", e);
        }
        if (e.code().retriable()) {
            throw e;
        }
        return new StartRefused("The cluster refuses to import " + file.path() + " (" + e.getMessage()
            + "). See to it, and start again: the import goes on where it was.", e);
    }

    /** The file's values stand in the table, to be read and merged by maximum. */
    void load() {
        for (OffsetFile.Row r : file.rows()) {
            merge(r.key, r.offset);
        }
    }

    /** Likewise values of the mark whose keys had not been read when they came; and what it says of closed keys. */
    private void loadMark(String id) {
        if (fileSettled || !leftovers.isOurs(file.mark(), id)) {
            return;
        }
        file.mark().toMerge().forEach(u -> merge(u.key, u.offset));
        file.mark().closed().forEach(key -> table.with(key, k -> {
            Takeover.close(k);
            return null;
        }));
    }

    private void merge(Key key, long offset) {
        table.with(key, k -> {
            Takeover.merge(k, offset, board);
            return null;
        });
    }

    /** The index up to which this broker had taken over all acts, in this life or, by its file, in the one before. */
    private long since(FileFate fate, Meta now) {
        if (fate == FileFate.IMPORT) {
            return Long.MAX_VALUE;
        }
        return board.view.clusterId.isEmpty() ? fate.since(file, now, options.broker) : board.view.judged;
    }

    /** Reads all keys, and what changed meanwhile. */
    private void read(String id, long claim, long since) throws TidemarkException {
        board.update(v -> v.read(id, claim, since));
        brokenOff = true;
        if (Mistake.TABLE_NOT_READ) {
            return;
        }
        boolean popYields = popYields();
        Meta seen = walk.over(0, (k, s) -> Takeover.adopt(k, s, since, popYields, board));
        List<KeyProgress> absent = walk.notMet();
        for (KeyProgress k : absent) {
            Takeover.absent(k, board);
        }
        unread(absent, id);
        absent.forEach(this::leave);
        board.update(v -> v.read(id, claim, seen.index()));
        Meta caughtUp = walk.over(seen.index(), (k, s) -> Takeover.follow(k, s, board));
        board.update(v -> v.followedTo(caughtUp.index(), board.tally.lost.sum() == 0));
        brokenOff = false;
    }

    /**
     * What the file alone has is read now: by the index that was followed to, and by no later one, one sees whether
     * it has been removed since.
     */
    private void unread(List<KeyProgress> absent, String id) throws TidemarkException {
        List<KeyProgress> keys = absent.stream().filter(KeyProgress::isUnread).collect(Collectors.toList());
        for (int from = 0; from < keys.size(); from += BATCH) {
            List<KeyProgress> some = keys.subList(from, Math.min(keys.size(), from + BATCH));
            List<OffsetKey> names =
                some.stream().map(k -> OffsetKeys.of(k, options.broker)).collect(Collectors.toList());
            FetchAnswer a =
                cluster.fetch(names, ReadAt.LINEARIZABLE, Deadline.after(READ_MILLIS, TimeUnit.MILLISECONDS));
            if (!a.meta().clusterId().equals(id)) {
                throw Contact.foreign(a.meta(), id);
            }
            for (int i = 0; i < some.size(); i++) {
                Takeover.follow(some.get(i), a.states().get(i), board);
            }
        }
    }

    private void leave(KeyProgress k) {
        if (k.bury()) {
            table.remove(k);
        } else {
            k.readIfNew(board);
        }
    }

    /** What was imported is there: nobody begins to serve on less than the file had. */
    private void verify() throws StartRefused {
        for (OffsetFile.Row r : file.rows()) {
            KeyProgress k = table.get(r.key);
            if (k == null || k.value < r.offset) {
                throw new StartRefused("After its import " + r.key + " of " + file.path() + " is at "
                    + (k == null || k.value < 0 ? "no offset" : String.valueOf(k.value)) + ", less than the "
                    + r.offset + " of the file: somebody has moved it meanwhile. Look at it (tidemark group list), and"
                    + " start again: then the broker continues with the cluster's offsets. To keep the larger offset of"
                    + " each queue, set tidemarkUnmarkedFile=merge for that start, and take the line out afterwards.");
            }
        }
    }
}
