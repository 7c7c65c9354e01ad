/**
 * Which role the broker has, and which store it is: who claims the name, and when
 * (docs/decisions/0013-slaves-of-a-broker.md has what follows from it).
 */
package io.github.tidemarkmq.broker.role;
