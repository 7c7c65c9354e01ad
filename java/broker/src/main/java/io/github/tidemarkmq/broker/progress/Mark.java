package io.github.tidemarkmq.broker.progress;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * What {@link Progress} writes into the broker's own file, as one further field of the JSON object: that the file
 * belongs to a broker whose offsets are in a cluster, and which of its values the cluster does not have yet. A plain
 * broker ignores the field when it reads the file and drops it with its next write, so a file without it says that
 * the broker ran without us in between. Immutable.
 *
 * <p>Its JSON is standard: names in quotes, so that every parser can pass over it, fastjson 1 and 2 among them.
 */
public final class Mark {
    /** In the place of the epoch of a value whose key had not been read: none is known. */
    static final long UNREAD = -1;
    /** The name of the field. */
    public static final String FIELD = "tidemark";

    /**
     * A value that the cluster had not acknowledged when the file was written, and that rests on nothing unsafe; or a
     * key that is closed since it was moved, and that no connection has opened yet; or one that the cluster never had,
     * whose value rests on what is not safe.
     */
    static final class Unsent {
        final Key key;
        /** The value; -1 for a key without one that is to be sent. */
        final long offset;
        /** The epoch under which it is to be sent; {@link Mark#UNREAD} to merge it by maximum. */
        final long epoch;
        /** The offset that the cluster last reported for the key; -1 for none. */
        final long acked;

        Unsent(Key key, long offset, long epoch, long acked) {
            this.key = key;
            this.offset = offset;
            this.epoch = epoch;
            this.acked = acked;
        }
    }

    /** 32 hexadecimal digits; empty for a broker that runs alone and has never read one. */
    final String clusterId;
    final String broker;
    /** The index that the broker had followed to: what is newer was moved while it was away. */
    final long index;
    /** The broker has run without having read the cluster: its file is to be merged. */
    final boolean alone;
    /** The id and the base of the import that brings the file's content in, while it is under way; else empty. */
    final String importId;
    final long importBase;
    final List<Unsent> unsent;

    private Mark(String clusterId, String broker, long index, boolean alone, String importId, long importBase,
        List<Unsent> unsent) {
        this.clusterId = Objects.requireNonNull(clusterId, "clusterId");
        this.broker = Objects.requireNonNull(broker, "broker");
        this.index = index;
        this.alone = alone;
        this.importId = importId;
        this.importBase = importBase;
        this.unsent = Collections.unmodifiableList(unsent);
    }

    /** Of a broker that has read the cluster. */
    static Mark of(String clusterId, String broker, long index, List<Unsent> unsent) {
        return new Mark(clusterId, broker, index, false, "", 0, unsent);
    }

    /** Of a broker that runs without having read the cluster; its file had this mark. */
    Mark alone() {
        return new Mark(clusterId, broker, index, true, "", 0, unsent);
    }

    /** Of a file whose import is under way. */
    static Mark importing(String clusterId, String broker, String id, long base) {
        return new Mark(clusterId, broker, 0, false, id, base, Collections.emptyList());
    }

    /** The values to be sent with the epochs that they have. */
    List<Unsent> toSend() {
        return unsent.stream().filter(u -> u.offset >= 0 && u.epoch != UNREAD).collect(Collectors.toList());
    }

    /** The values to be merged by maximum. */
    List<Unsent> toMerge() {
        return unsent.stream().filter(u -> u.offset >= 0 && u.epoch == UNREAD).collect(Collectors.toList());
    }

    /** How many of the keys the cluster never had. */
    long ofNewKeys() {
        return unsent.stream().filter(u -> u.acked == KeyProgress.NONE).count();
    }

    /** The keys that are closed. */
    List<Key> closed() {
        return unsent.stream().filter(u -> u.offset < 0 && u.acked != KeyProgress.NONE).map(u -> u.key)
            .collect(Collectors.toList());
    }

    /** The field's value, standard JSON, to be written after {@code "tidemark":}. */
    public String json() {
        StringBuilder s = new StringBuilder(256).append("{\"cluster\":");
        quote(s, clusterId);
        quote(s.append(",\"broker\":"), broker);
        s.append(",\"index\":").append(index).append(",\"alone\":").append(alone);
        if (!importId.isEmpty()) {
            quote(s.append(",\"import\":"), importId);
            s.append(",\"base\":").append(importBase);
        }
        s.append(",\"unsent\":[");
        Key before = null;
        for (Unsent u : unsent) {
            before = unsent(s, u, before);
        }
        return s.append(before == null ? "]}" : "]}]}").toString();
    }

    /** Values of one topic and group that stand together share the names. */
    private static Key unsent(StringBuilder s, Unsent u, Key before) {
        boolean same = before != null && before.topic().equals(u.key.topic()) && before.group().equals(u.key.group());
        if (same) {
            s.append(',');
        } else {
            quote(s.append(before == null ? "" : "]},").append("{\"topic\":"), u.key.topic());
            quote(s.append(",\"group\":"), u.key.group());
            s.append(",\"queues\":[");
        }
        s.append('[').append(u.key.queue()).append(',').append(u.offset).append(',').append(u.epoch).append(',')
            .append(u.acked).append(']');
        return u.key;
    }

    /** A JSON string. */
    static void quote(StringBuilder out, String s) {
        out.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    /** Reads the field's value. A member that this version does not know is passed over. */
    static Mark parse(JsonText in) throws JsonText.Fault {
        String cluster = "";
        String broker = "";
        String id = "";
        long index = 0;
        long base = 0;
        boolean alone = false;
        List<Unsent> unsent = new ArrayList<>();
        in.expect('{');
        for (boolean first = true; in.more('}', first); first = false) {
            switch (in.name()) {
                case "cluster":
                    cluster = in.string();
                    break;
                case "broker":
                    broker = in.string();
                    break;
                case "import":
                    id = in.string();
                    break;
                case "index":
                    index = in.number();
                    break;
                case "base":
                    base = in.number();
                    break;
                case "alone":
                    alone = in.peek() == 't';
                    in.skip();
                    break;
                case "unsent":
                    parseUnsent(in, unsent);
                    break;
                default:
                    in.skip();
            }
        }
        if (cluster.isEmpty() && !alone) {
            throw in.fault("the mark \"tidemark\" names no cluster");
        }
        return new Mark(cluster, broker, index, alone, id, base, unsent);
    }

    private static void parseUnsent(JsonText in, List<Unsent> out) throws JsonText.Fault {
        in.expect('[');
        for (boolean first = true; in.more(']', first); first = false) {
            String topic = "";
            String group = "";
            in.expect('{');
            for (boolean head = true; in.more('}', head); head = false) {
                switch (in.name()) {
                    case "topic":
                        topic = in.string();
                        break;
                    case "group":
                        group = in.string();
                        break;
                    case "queues":
                        parseQueues(in, topic, group, out);
                        break;
                    default:
                        in.skip();
                }
            }
        }
    }

    private static void parseQueues(JsonText in, String topic, String group, List<Unsent> out)
        throws JsonText.Fault {
        in.expect('[');
        for (boolean first = true; in.more(']', first); first = false) {
            long[] n = new long[4];
            in.expect('[');
            for (int i = 0; i < n.length; i++) {
                if (i > 0) {
                    in.expect(',');
                }
                n[i] = in.number();
            }
            Key key = new Key(topic, group, (int) n[0]);
            if (n[0] != key.queue() || !Queues.storable(key) || Math.min(Math.min(n[1], n[2]), n[3]) < -1) {
                throw in.fault("the mark \"tidemark\" holds a value that is none");
            }
            in.expect(']');
            out.add(new Unsent(key, n[1], n[2], n[3]));
        }
    }
}
