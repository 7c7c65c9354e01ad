// Package scale has clusters of processes hold many groups, and many
// connections: a few thousand in every run, what was reported with SOAK=1. What
// memory they may take is what docs/sizing.md says.
package scale
