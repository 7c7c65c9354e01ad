// Package processes breaks clusters of real daemons, on real disks, by
// signals, while consumers commit through client.RemoteStore; runs the proofs
// of this folder in small; and shows that they fail on builds that break their
// word.
package processes
