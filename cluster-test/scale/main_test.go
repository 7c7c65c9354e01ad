package scale

import (
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

func TestMain(m *testing.M) { local.Main(m) }
