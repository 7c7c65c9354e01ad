/**
 * What stands in front of the broker's own processors: the order of 15 and 14 on one connection, answers that come once
 * a commit is durable, guard mode, and operators' acts that go to the cluster first. The broker's own processors do the
 * rest, checks and answers included.
 */
package io.github.tidemarkmq.broker.processor;
