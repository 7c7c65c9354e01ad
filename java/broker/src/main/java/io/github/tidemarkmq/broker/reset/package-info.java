/**
 * Resets that live consumers are made to follow: from the moment that somebody moved an offset on purpose until its
 * consumer has shown that it continues from there, and what the consumer may commit meanwhile.
 */
package io.github.tidemarkmq.broker.reset;
