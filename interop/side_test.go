package interop

import (
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// side is a stand with a broker on it.
type side struct {
	*stand.Stand
	broker *javaparts.Broker
}

func newSide(t *testing.T, v javaparts.Version, w stand.Where) side {
	s := stand.New(t, v, w)
	return side{s, s.Broker(nil)}
}

// TestSideBySide does the same to a broker with our jar as to one without: what
// is seen from outside is the same, except for the faults. The two brokers of a
// version serve all of it, since they start slowly; the tools come first, as
// they list what there is.
func TestSideBySide(t *testing.T) {
	apart(t)
	versions := effort.Of([]javaparts.Version{javaparts.RocketMQ5}, []javaparts.Version{javaparts.RocketMQ5, javaparts.RocketMQ53, javaparts.RocketMQ4})
	for _, v := range versions {
		t.Run(string(v), func(t *testing.T) {
			plain, ours := newSide(t, v, stand.Plain), newSide(t, v, stand.Tidemark)
			t.Run("tools", func(t *testing.T) { sameTranscript(t, plain, ours) })
			t.Run("answers", func(t *testing.T) { sameAnswers(t, plain, ours) })
			t.Run("faults", func(t *testing.T) { noFaults(t, plain, ours) })
		})
	}
}
