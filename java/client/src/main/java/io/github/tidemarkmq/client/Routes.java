package io.github.tidemarkmq.client;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Where calls should go: to the leader that answers name, else to the next seed. An address that failed is passed
 * over for a while, so that a node that keeps naming it does not send every call into the void.
 */
final class Routes {
    private static final long SHUNNED_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int MAX_SHUNNED = 64;

    private final List<Address> seeds;
    /** When each address that failed may be used again, by System.nanoTime. */
    private final Map<Address, Long> shunned = new HashMap<>();
    private Address want;
    private int next;

    Routes(List<Address> seeds) {
        this.seeds = seeds;
        this.want = seeds.get(0);
        this.next = 1 % seeds.size();
    }

    /** Where a call should go now. */
    synchronized Address now() {
        return want;
    }

    /** Takes the leader that an answer named; one that is empty or not an address is ignored. */
    synchronized void learn(String leader) {
        Address address = leader.isEmpty() ? null : Address.parse(leader);
        if (address != null && !shunned(address)) {
            want = address;
        }
    }

    /**
     * Makes calls that went to an address go to another seed, if they still go there.
     *
     * @param failed it is not to be used for a while
     */
    synchronized void leave(Address address, boolean failed) {
        if (failed) {
            if (shunned.size() >= MAX_SHUNNED) {
                shunned.clear();
            }
            shunned.put(address, System.nanoTime() + SHUNNED_NANOS);
        }
        if (want.equals(address)) {
            want = seed(address);
        }
    }

    /** An address has answered. */
    synchronized void works(Address address) {
        shunned.remove(address);
    }

    /** The next other seed that is not shunned; else the next other one; else the same. */
    private Address seed(Address left) {
        Address other = null;
        for (int i = 0; i < seeds.size(); i++) {
            Address s = seeds.get(next);
            next = (next + 1) % seeds.size();
            if (!s.equals(left) && !shunned(s)) {
                return s;
            }
            if (!s.equals(left) && other == null) {
                other = s;
            }
        }
        return other == null ? seeds.get(next) : other;
    }

    private boolean shunned(Address address) {
        Long until = shunned.get(address);
        if (until != null && System.nanoTime() - until >= 0) {
            shunned.remove(address);
            return false;
        }
        return until != null;
    }
}
