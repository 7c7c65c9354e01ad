//go:build race

package incluster

// slower is by how much raft's timers are longer than usual.
const slower = 2
