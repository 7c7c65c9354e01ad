package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Cluster;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyFilter;
import io.github.tidemarkmq.client.KeyPage;
import io.github.tidemarkmq.client.KeyState;
import io.github.tidemarkmq.client.Meta;
import io.github.tidemarkmq.client.ReadAt;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Walks over the keys of the broker's name in the cluster, page by page, and over those of the table that it did not
 * meet. One thread at a time.
 */
final class Walk {
    private static final long PAGE_MILLIS = 5_000;

    private final Cluster cluster;
    private final Options options;
    private final Board board;
    private final Table table;
    private final Contact contact;
    private int number;

    Walk(Cluster cluster, Options options, Board board, Table table, Contact contact) {
        this.cluster = cluster;
        this.options = options;
        this.board = board;
        this.table = table;
        this.contact = contact;
    }

    /**
     * Shows each key whose index or epoch is newer (0: each key) to take, under the key's monitor.
     *
     * @return the meta of the first page: what changed before its index has been shown
     */
    Meta over(long newerThan, BiConsumer<KeyProgress, KeyState> take) throws TidemarkException {
        number++;
        KeyFilter filter = KeyFilter.ALL.broker(options.broker).newerThan(newerThan);
        Meta first = null;
        Pages pages = new Pages();
        KeyPage page;
        do {
            Deadline d = Deadline.after(PAGE_MILLIS, TimeUnit.MILLISECONDS);
            page = cluster.listKeys(filter, pages.after(), Cluster.MAX_COMMITS, ReadAt.LINEARIZABLE, d);
            contact.answered();
            first = first == null ? page.meta() : first;
            String expected = board.view.clusterId.isEmpty() ? first.clusterId() : board.view.clusterId;
            if (!page.meta().clusterId().equals(expected)) {
                throw Contact.foreign(page.meta(), expected);
            }
            show(page, take);
        } while (pages.next(page));
        return first;
    }

    private void show(KeyPage page, BiConsumer<KeyProgress, KeyState> take) {
        for (KeyState s : page.states()) {
            table.with(OffsetKeys.key(s.key()), k -> {
                k.walk = number;
                take.accept(k, s);
                return null;
            });
        }
    }

    /** The keys that the last walk over all keys did not meet. */
    List<KeyProgress> notMet() {
        List<KeyProgress> out = new ArrayList<>();
        table.forEach(k -> {
            if (k.walk != number) {
                out.add(k);
            }
        });
        return out;
    }
}
