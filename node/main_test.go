package node_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Left behind on purpose, to show what raft leaves unanswered.
		goleak.IgnoreAnyFunction("github.com/tidemark-mq/tidemark/node_test.TestTrapUnansweredFutures"))
}
