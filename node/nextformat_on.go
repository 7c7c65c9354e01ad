//go:build nextformat

package node

import "github.com/tidemark-mq/tidemark/fsm/entry"

// checkpointAt is what the leader logs for members to compare their states.
func checkpointAt(level uint8) entry.Request {
	if level < 2 {
		return entry.Request{Checkpoint: true}
	}
	return entry.Request{Later: entry.Later{Count: true}}
}
