package io.github.tidemarkmq.client;

import java.util.Objects;

/** One member of the cluster as the answering node knows it. */
public final class Member {
    private final String id;
    private final String apiAddress;
    private final boolean voter;
    private final boolean leader;

    /** A member; see the accessors. */
    public Member(String id, String apiAddress, boolean voter, boolean leader) {
        this.id = Objects.requireNonNull(id, "id");
        this.apiAddress = Objects.requireNonNull(apiAddress, "apiAddress");
        this.voter = voter;
        this.leader = leader;
    }

    /** "name/member-id". */
    public String id() {
        return id;
    }

    /** HOST:PORT of its API; empty until it has announced it. */
    public String apiAddress() {
        return apiAddress;
    }

    /** Whether it votes. */
    public boolean voter() {
        return voter;
    }

    /** Whether it leads. */
    public boolean leader() {
        return leader;
    }
}
