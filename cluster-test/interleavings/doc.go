// Package interleavings plays the orders of events that a naive store of
// offsets gets wrong, each under its name, on whole clusters through the client
// library or the CLI. Where a rule is decided by one part alone, that part has
// a test of its own:
//
//   - a late Set after a newer commit: fsm/table's histories; client, "Overtaken"
//   - a resent remove after consumers came back: fsm/table's histories; client, "Resent"
//   - a follower that serves local reads before it has caught up: node
//   - a wiped node that comes back: node (founding, members); links, under load
//   - a member with an unknown entry kind: fsm (latch); node
//   - a leader whose digest is wrong: node (members)
package interleavings
