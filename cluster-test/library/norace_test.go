//go:build !race

package library

// margin is what the race detector may add.
const margin = 0
