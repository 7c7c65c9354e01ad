package io.github.tidemarkmq.broker.progress;

/** What a broker is to the keys of its name. */
public enum Role {
    /** It claims its name, imports, lowers, and assigns resets. */
    MASTER,
    /** It claims nothing, only raises, and follows the keys of its name once a second. */
    SLAVE
}
