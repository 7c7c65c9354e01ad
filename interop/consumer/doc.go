// Package consumer holds the proofs of the Java OffsetStore (java/consumer):
// unmodified consumers of each client version, on brokers that are not touched,
// with their offsets in a cluster of real processes.
package consumer
