package embedded_test

import (
	"os"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		child(dir)
		return
	}
	local.Main(m)
}
