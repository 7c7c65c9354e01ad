package io.github.tidemarkmq.consumer;

import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.FetchAnswer;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.Collections;
import java.util.concurrent.TimeUnit;

/** The steps that a store is made of, over a cluster in memory, in the thread of a test. */
abstract class Steps {
    static final OffsetKey KEY = key(0);
    static final OffsetKey OTHER = key(1);

    final FakeCluster fake = new FakeCluster();
    final ProgressTable table = new ProgressTable();
    private final ActWatch watch = new ActWatch(table, fake.cluster());

    static OffsetKey key(int queue) {
        return new OffsetKey("billing", "orders", "b1", queue);
    }

    static Deadline soon() {
        return Deadline.after(5, TimeUnit.SECONDS);
    }

    static Deadline now() {
        return Deadline.after(0, TimeUnit.SECONDS);
    }

    final void read(OffsetKey key) throws TidemarkException {
        Object read = table.beginRead(key, soon());
        FetchAnswer a = fake.cluster().fetch(Collections.singletonList(key), ReadAt.LINEARIZABLE, soon());
        table.took(key, read, a.states().get(0), a.meta());
    }

    /** A run with what changed, after these offsets were given. */
    final Findings run(Exact... exacts) throws TidemarkException {
        for (Exact e : exacts) {
            table.exactly(e);
        }
        Run run = new Run(table, fake.cluster(), soon());
        run.go();
        return run.findings;
    }

    final Findings look() throws TidemarkException {
        Findings f = new Findings();
        look(f);
        return f;
    }

    final void look(Findings into) throws TidemarkException {
        watch.look(watch.answers(), into, soon());
    }
}
