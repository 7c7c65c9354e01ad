package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.ActAnswer;
import io.github.tidemarkmq.client.ActHeader;
import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.ImportPlan;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.Target;
import io.github.tidemarkmq.client.TidemarkException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A broker's file as an import: cut into chunks by its content alone, so that a start that was cut down half way goes
 * on where it was, under the id that the file's mark has kept.
 */
final class ImportFile {
    private static final int CHUNK_ROWS = 2_000;
    private static final int CHUNK_BYTES = 96 * 1024;
    private static final long STEP_MILLIS = 30_000;

    private final List<List<Target>> chunks = new ArrayList<>();
    /** Waits a moment before a step is sent again; false if there is no time for it. */
    private final BooleanSupplier pause;
    private final String hash;
    private final int offsets;

    ImportFile(List<OffsetFile.Row> rows, String broker, BooleanSupplier pause) {
        this.pause = pause;
        List<Target> targets = new ArrayList<>(rows.size());
        for (OffsetFile.Row r : rows) {
            targets.add(new Target(OffsetKeys.of(r.key, broker), r.offset));
        }
        targets.sort(Comparator.comparing(Target::key, OffsetKeys::byBytes));
        offsets = targets.size();
        hash = hash(targets);
        cut(targets);
    }

    private static String hash(List<Target> targets) {
        try {
            MessageDigest d = MessageDigest.getInstance("SHA-256");
            for (Target t : targets) {
                OffsetKey k = t.key();
                String row = k.group() + "\n" + k.topic() + "\n" + k.broker() + "\n" + k.queueId() + "\n" + t.offset();
                d.update((row + "\n").getBytes(StandardCharsets.UTF_8));
            }
            StringBuilder hex = new StringBuilder(64);
            for (byte b : d.digest()) {
                hex.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
            }
            return hex.toString();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private void cut(List<Target> targets) {
        int from = 0;
        int bytes = 0;
        for (int i = 0; i < targets.size(); i++) {
            OffsetKey k = targets.get(i).key();
            bytes += 24 + 3 * (k.group().length() + k.topic().length()) + k.broker().length();
            if (i > from && (i - from == CHUNK_ROWS || bytes > CHUNK_BYTES)) {
                chunks.add(targets.subList(from, i));
                from = i;
                bytes = 0;
            }
        }
        chunks.add(targets.subList(from, targets.size()));
    }

    /**
     * Sends all, or what is left of it; each step until it is answered, within 30 s. Another import that is under way,
     * perhaps that of another broker's first start, is waited for as long as the first step has.
     *
     * @return false if there was nothing left to send: an earlier start had sent all of it
     */
    boolean send(Cluster cluster, ActHeader act) throws TidemarkException {
        ImportPlan plan = ImportPlan.merge(hash, chunks.size(), offsets);
        ActAnswer a = step(d -> cluster.importBegin(act, plan, d));
        boolean sent = !a.done();
        while (!a.done()) {
            int next = a.next();
            a = step(d -> cluster.importChunk(act, next, chunks.get(next), d));
        }
        return sent;
    }

    private interface Step {
        ActAnswer send(Deadline deadline) throws TidemarkException;
    }

    private ActAnswer step(Step step) throws TidemarkException {
        Deadline deadline = Deadline.after(STEP_MILLIS, TimeUnit.MILLISECONDS);
        for (;;) {
            try {
                return step.send(deadline);
            } catch (TidemarkException e) {
                boolean again = e.code().retriable() || e.code() == Code.IMPORT_BUSY;
                if (!again || deadline.passed() || !pause.getAsBoolean()) {
                    throw e;
                }
            }
        }
    }
}
