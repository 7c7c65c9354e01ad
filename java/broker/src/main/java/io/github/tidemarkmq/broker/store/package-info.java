/**
 * What the broker's message store says that offsets depend on: where its log ends and how safe that is
 * ({@link io.github.tidemarkmq.broker.store.CommitLogEnd}), where queues end, and what to do with offsets beyond that
 * ({@link io.github.tidemarkmq.broker.store.LostTail}).
 */
package io.github.tidemarkmq.broker.store;
