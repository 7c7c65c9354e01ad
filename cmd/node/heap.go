package main

import "os"

// heapFloor is how much may pile up between two runs of the garbage collector
// at the least. A node whose table is small would else run it for every few
// megabytes, many times a second under load: a tenth to a fifth of what it
// carries (docs/performance.md).
const heapFloor = 64 << 20

// floor is counted by the collector as part of the heap, which may double
// before the next run. It is never written to, and so takes no memory. The
// runtime has no setting for this (golang/go#23044).
var floor []byte

// raiseHeapFloor does nothing where somebody has told the collector what to do:
// GOMEMLIMIT would count the floor as memory in use.
func raiseHeapFloor() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		floor = make([]byte, heapFloor)
	}
}
