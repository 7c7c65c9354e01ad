package node

// RestartRaft ends the present life of raft as a transfer that never ends does.
func RestartRaft(n *Node) { n.replica.Load().fail(errRestart{"the test says so"}) }
