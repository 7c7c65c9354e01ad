// Package tidemarktest is for the tests of programs that use Tidemark. It has
// two things, and a suite for a third.
//
// A Cluster is a real one, of real members, inside the test: Start gives it,
// its Endpoints are addresses on the loopback interface that any program can be
// given, and the test decides what goes wrong: members die and come back
// (KillLeader, Node.Kill, Node.Restart), the network is cut (Cut, Pause, Heal),
// calls fail or their answers are lost (FailNext).
//
//	c := tidemarktest.Start(t, 3)
//	p := myprogram.New(c.Endpoints())
//	p.Consume(…)
//	c.KillLeader()
//	p.Consume(…)
//	if got := c.Offsets("billing")[mq]; got != 20 { … }
//
// A MemoryStore is an OffsetStore without a cluster, for unit tests: maps under
// a lock, no goroutine, no network, no clock. A Memory is what several of them
// persist to.
//
// TestOffsetStore is what every OffsetStore must do, for who writes one.
//
// # Cleaning up
//
// A Cluster ends with its test: clients that it made are closed, members
// stopped, folders removed. What the members logged is shown if the test
// failed, and only then. Any number of clusters may run at once, in parallel
// tests too: ports are those that the system hands out, and each cluster has
// a network of its own.
package tidemarktest
