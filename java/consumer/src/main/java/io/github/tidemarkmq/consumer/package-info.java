/**
 * An OffsetStore for RocketMQ's Java consumers, over a Tidemark cluster: see
 * {@link io.github.tidemarkmq.consumer.TidemarkOffsetStore}.
 */
package io.github.tidemarkmq.consumer;
