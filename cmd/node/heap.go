package main

import "os"

// heapFloorBytes is how much may pile up between two runs of the garbage
// collector at the least. A node whose table is small would else run it for
// every few megabytes, many times a second under load: a tenth to a fifth of
// what it carries (docs/performance.md).
const heapFloorBytes = 64 << 20

// heapFloor is memory that the collector counts as part of the heap, which may
// double before the next run, for as long as it is kept. It is never written to,
// and so takes none of the machine's. The runtime has no setting for this
// (golang/go#23044). It is nil where somebody has told the collector what to do:
// GOMEMLIMIT would count it as in use.
func heapFloor() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, heapFloorBytes)
}
