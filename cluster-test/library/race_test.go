//go:build race

package library

import "time"

// margin is what the race detector may add: it makes the three members in this
// process, and what they are asked for, ten times as slow.
const margin = 400 * time.Millisecond
