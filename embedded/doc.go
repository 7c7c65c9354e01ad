// Package embedded runs a Tidemark node inside a program: one node, on the
// program's own disk, with the same guarantees as a cluster of one. What was
// acknowledged has been synced, and no crash takes it back.
//
//	n, err := embedded.Open(ctx, "/var/lib/app/offsets")
//	defer n.Close()
//	s, err := client.NewRemoteStore(n.Client(), "billing")
//
// The client is the ordinary one, over a connection in memory: no port is
// opened. A folder is one process's at a time.
//
// A store that has become too important for one disk grows into a cluster as
// it is: opened with WithListen it is a member like any other, to which further
// ones are added (tidemark cluster add, tidemark cluster promote); or tidemarkd
// is started on the folder. Nothing is exported or imported, and no offset,
// epoch or audit line changes.
package embedded
