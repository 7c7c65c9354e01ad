package io.github.tidemarkmq.client;

import java.util.List;

/** The messages that others are made of (transport/api/tidemark/v1): keys, states, meta. */
final class Messages {
    private static final Position NOTHING = new Position(0, 0, 0, 0, false);

    private Messages() {
    }

    /** Reads the body of an answer, in the thread of the call. */
    interface Decoder<T> {
        T decode(ProtoReader r) throws MalformedException;
    }

    static void key(ProtoWriter w, int field, OffsetKey key) throws TidemarkException {
        int m = w.begin(field);
        w.text(1, key.group()).text(2, key.topic()).text(3, key.broker()).number(4, key.queueId());
        w.end(m);
    }

    static void targets(ProtoWriter w, int field, List<Target> targets) throws TidemarkException {
        for (Target t : targets) {
            int m = w.begin(field);
            key(w, 1, t.key());
            w.number(2, t.offset());
            w.end(m);
        }
    }

    /** Reads a key; the likely one, which may be null, lends its names, or itself if it is the one. */
    static OffsetKey key(ProtoReader r, OffsetKey likely) throws MalformedException {
        OffsetKey like = likely == null ? NO_KEY : likely;
        String group = "";
        String topic = "";
        String broker = "";
        int queueId = 0;
        int outer = r.enter();
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    group = r.text(like.group());
                    break;
                case 2:
                    topic = r.text(like.topic());
                    break;
                case 3:
                    broker = r.text(like.broker());
                    break;
                case 4:
                    queueId = r.small();
                    break;
                default:
                    r.skip();
            }
        }
        r.leave(outer);
        boolean same = queueId == like.queueId() && group.equals(like.group()) && topic.equals(like.topic())
            && broker.equals(like.broker());
        return same ? like : new OffsetKey(group, topic, broker, queueId);
    }

    private static final OffsetKey NO_KEY = new OffsetKey("", "", "", 0);

    /** Reads a key and its state; the likely key is as in {@link #key}. */
    static KeyState state(ProtoReader r, OffsetKey likely) throws MalformedException {
        OffsetKey key = NO_KEY;
        boolean exists = false;
        Position position = NOTHING;
        long epoch = 0;
        long claim = 0;
        int outer = r.enter();
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    key = key(r, likely);
                    break;
                case 2:
                    exists = r.flag();
                    break;
                case 3:
                    position = position(r);
                    break;
                case 4:
                    epoch = r.natural();
                    break;
                case 5:
                    claim = r.natural();
                    break;
                default:
                    r.skip();
            }
        }
        r.leave(outer);
        return new KeyState(key, exists, position, epoch, claim);
    }

    private static Position position(ProtoReader r) throws MalformedException {
        long offset = 0;
        long index = 0;
        long epoch = 0;
        long time = 0;
        boolean pending = false;
        int outer = r.enter();
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    offset = r.natural();
                    break;
                case 2:
                    index = r.natural();
                    break;
                case 3:
                    epoch = r.natural();
                    break;
                case 4:
                    time = r.number();
                    break;
                case 5:
                    pending = r.flag();
                    break;
                default:
                    r.skip();
            }
        }
        r.leave(outer);
        return new Position(offset, index, epoch, time, pending);
    }

    static Meta meta(ProtoReader r) throws MalformedException {
        String cluster = "";
        long index = 0;
        long lastAct = 0;
        String leader = "";
        long age = 0;
        int outer = r.enter();
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    cluster = r.text("");
                    break;
                case 2:
                    index = r.natural();
                    break;
                case 3:
                    lastAct = r.natural();
                    break;
                case 4:
                    leader = r.text("");
                    break;
                case 5:
                    age = r.number();
                    break;
                default:
                    r.skip();
            }
        }
        r.leave(outer);
        return new Meta(cluster, index, lastAct, leader, age);
    }

    /** The meta of an answer, which is malformed without one: each names its cluster. */
    static Meta required(Meta meta) throws MalformedException {
        if (meta == null || meta.clusterId().isEmpty()) {
            throw new MalformedException("it names no cluster");
        }
        return meta;
    }

    /** Refuses an answer with more rows than may be. */
    static void bound(int rows, int most) throws MalformedException {
        if (rows >= most) {
            throw new MalformedException("it has more than " + most + " rows");
        }
    }
}
