package io.github.tidemarkmq.broker.version;

import io.github.tidemarkmq.broker.store.LogView;
import io.github.tidemarkmq.broker.store.Replica;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.rocketmq.store.CommitLog;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.MappedFileQueue;
import org.apache.rocketmq.store.config.BrokerRole;

/**
 * The log of a broker 4.9, which shows less of it than 5.x: MessageStore has no getFlushedWhere, CommitLog no
 * getMappedFileQueue, HAService is a class (not an interface, so it can't be called as what we are compiled against)
 * and keeps its connections and how far they are to itself.
 */
public final class LogOf49 implements LogView {
    private final DefaultMessageStore store;
    private final MappedFileQueue files;
    private final List<?> connections;

    /** A view of a store that is loaded. */
    public LogOf49(DefaultMessageStore store) throws ReflectiveOperationException {
        this.store = store;
        this.files = (MappedFileQueue) read(CommitLog.class, store.getCommitLog(), "mappedFileQueue");
        Object ha = read(DefaultMessageStore.class, store, "haService");
        this.connections = ha == null ? Collections.emptyList() : (List<?>) read(ha.getClass(), ha, "connectionList");
    }

    @Override
    public long written() {
        return files.getMaxWrotePosition();
    }

    @Override
    public long flushed() {
        return files.getFlushedWhere();
    }

    @Override
    public void flush() {
        long end = written();
        long before;
        do {
            before = flushed();
            store.flush();
        } while (flushed() > before && flushed() < end);
    }

    @Override
    public List<Replica> replicas() {
        if (store.getMessageStoreConfig().getBrokerRole() == BrokerRole.SLAVE) {
            return Collections.emptyList();
        }
        List<Replica> replicas = new ArrayList<>();
        synchronized (connections) { // as HAService.addConnection does
            for (Object c : connections) {
                replicas.add(new Replica(acked(c), false));
            }
        }
        return replicas;
    }

    /** It has no controllers. */
    @Override
    public boolean agreed() {
        return true;
    }

    private static long acked(Object connection) {
        try {
            return (Long) read(connection.getClass(), connection, "slaveAckOffset");
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("HAConnection has no slaveAckOffset: this is no broker 4.9", e);
        }
    }

    private static Object read(Class<?> in, Object of, String name) throws ReflectiveOperationException {
        Field field = in.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }
}
