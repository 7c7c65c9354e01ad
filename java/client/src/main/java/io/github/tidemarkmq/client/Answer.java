package io.github.tidemarkmq.client;

/** An answer of a node. */
interface Answer {
    /** Index, last act and cluster of the answer. */
    Meta meta();
}
