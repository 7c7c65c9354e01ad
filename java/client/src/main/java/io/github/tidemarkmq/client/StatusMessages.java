package io.github.tidemarkmq.client;

import java.util.ArrayList;
import java.util.List;

/** The answer to a status. */
final class StatusMessages {
    private static final int MAX_MEMBERS = 256;

    private StatusMessages() {
    }

    static ClusterStatus answer(ProtoReader r) throws MalformedException {
        Meta meta = null;
        String nodeId = "";
        String state = "";
        int level = 0;
        int maxLevel = 0;
        String notReady = "";
        List<Member> members = new ArrayList<>();
        ImportProgress running = null;
        String version = "";
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    meta = Messages.meta(r);
                    break;
                case 2:
                    nodeId = r.text("");
                    break;
                case 3:
                    state = r.text("");
                    break;
                case 8:
                    level = r.small();
                    break;
                case 9:
                    maxLevel = r.small();
                    break;
                case 15:
                    notReady = r.text("");
                    break;
                case 16:
                    Messages.bound(members.size(), MAX_MEMBERS);
                    members.add(member(r));
                    break;
                case 17:
                    running = running(r);
                    break;
                case 18:
                    version = r.text("");
                    break;
                default:
                    r.skip();
            }
        }
        if (meta == null) {
            throw new MalformedException("it has no meta");
        }
        return new ClusterStatus(meta, nodeId, state, level, maxLevel, notReady, members, running,
            version);
    }

    private static Member member(ProtoReader r) throws MalformedException {
        String id = "";
        String api = "";
        boolean voter = false;
        boolean leader = false;
        int outer = r.enter();
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    id = r.text("");
                    break;
                case 3:
                    api = r.text("");
                    break;
                case 4:
                    voter = r.flag();
                    break;
                case 5:
                    leader = r.flag();
                    break;
                default:
                    r.skip();
            }
        }
        r.leave(outer);
        return new Member(id, api, voter, leader);
    }

    private static ImportProgress running(ProtoReader r) throws MalformedException {
        String id = "";
        boolean replace = false;
        String group = "";
        String hash = "";
        int next = 0;
        int chunks = 0;
        long offsets = 0;
        int outer = r.enter();
        while (r.next()) {
            switch (r.field()) {
                case 1:
                    id = r.text("");
                    break;
                case 2:
                    replace = r.flag();
                    break;
                case 3:
                    group = r.text("");
                    break;
                case 4:
                    hash = r.text("");
                    break;
                case 5:
                    next = r.small();
                    break;
                case 6:
                    chunks = r.small();
                    break;
                case 7:
                    offsets = r.natural();
                    break;
                default:
                    r.skip();
            }
        }
        r.leave(outer);
        return new ImportProgress(id, replace, group, hash, next, chunks, offsets);
    }
}
