/**
 * A RocketMQ broker that keeps its offsets in a Tidemark cluster: the start class, its settings, and how the parts are
 * put together.
 */
package io.github.tidemarkmq.broker;
