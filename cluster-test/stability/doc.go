// Package stability has clusters of real daemons bear what a machine does to
// them at its worst moments, with the timers that they have by default: disks
// whose syncs stall together, a neighbour that saturates the disk, neighbours
// that saturate the processors, and kills of the leader under full load.
//
// What holds always is demanded in every run: commits go on, one leader is left
// in the end, nothing acknowledged is lost or lowered. That nobody else is
// elected meanwhile is demanded with SOAK=1 only (make stability), on a machine
// that has nothing else to do; other runs tell how many elections there were.
package stability
