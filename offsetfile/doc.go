// Package offsetfile reads and writes the files that consumer offsets travel
// in: RocketMQ's consumerOffset.json in every shape that brokers and their
// tools write, a broadcasting consumer's own file, Kafka's CSV, CSV of ours, and
// a native format that tells when it is not whole.
//
// It is a leaf: it imports package offset only, starts no goroutine and, but
// for Find, ReadPath, Source.Read and WriteFile, touches no disk. What it reads
// is untrusted: every length has a bound, memory grows in proportion to the
// bytes read, and a file is taken whole or not at all. DESIGN.md beside this
// file has the rules.
package offsetfile
