/**
 * The broker's ConsumerOffsetManager over {@link io.github.tidemarkmq.broker.progress.Progress}: each of its methods,
 * the broker's own file, and what the broker's slaves are told (code 43).
 */
package io.github.tidemarkmq.broker.manager;
