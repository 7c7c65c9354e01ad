// Package interop holds tests against the real thing where no adapter has
// them: that RocketMQ's own classes read the files that we write, and that we
// read theirs. The folders beside it are poms (what internal/javaparts
// resolves) and small Java programs.
package interop
