//go:build !nextformat

package node

import "github.com/tidemark-mq/tidemark/fsm/entry"

// checkpointAt is what the leader logs for members to compare their states. A
// build with the tag nextformat logs another kind from level 2 on.
func checkpointAt(uint8) entry.Request { return entry.Request{Checkpoint: true} }
