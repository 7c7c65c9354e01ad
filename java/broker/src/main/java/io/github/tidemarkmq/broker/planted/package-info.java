/** Known mistakes, for the proofs that must find them. */
package io.github.tidemarkmq.broker.planted;
