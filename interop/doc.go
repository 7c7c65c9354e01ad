// Package interop holds tests against the real thing where no adapter has
// them: RocketMQ's brokers with our jar and without, driven by its own
// consumers and tools; and that its classes read the files that we write, and
// we theirs. DESIGN.md beside this file tells what there is.
package interop
