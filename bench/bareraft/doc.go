// Package bareraft is the ceiling that Tidemark is measured against: the raft
// library and one of its log stores as their authors ship them, a Go map, group
// commit, and frames on plain TCP. It promises less than Tidemark does: a put
// overwrites, nothing is checked, the library's traps are open (node/DESIGN.md),
// there are no snapshots, and a resend may be late.
package bareraft
