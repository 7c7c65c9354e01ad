/**
 * The offsets of one broker between its consumers and the cluster: the table, what is sent, what is read, claims,
 * acts, the mark in the broker's file. It knows nothing of RocketMQ but what its words mean.
 */
package io.github.tidemarkmq.broker.progress;
