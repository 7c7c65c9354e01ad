package tidemarktest_test

import (
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

func TestMemoryStoreIsAnOffsetStore(t *testing.T) {
	tidemarktest.TestOffsetStore(t, func(*testing.T) tidemarktest.Subject {
		var m tidemarktest.Memory
		return tidemarktest.Subject{
			Open:  func() client.OffsetStore { return m.Store("billing") },
			Reset: func(mq offset.MessageQueue, next int64) { m.Reset("billing", mq, next) },
		}
	})
}

func TestRemoteStoreIsAnOffsetStore(t *testing.T) {
	c := tidemarktest.Start(t, 1)
	cl := c.Client()
	tidemarktest.TestOffsetStore(t, func(t *testing.T) tidemarktest.Subject {
		group := t.Name()
		return tidemarktest.Subject{
			Open: func() client.OffsetStore {
				s, err := client.NewRemoteStore(cl, group, client.WithPersistInterval(0))
				if err != nil {
					t.Fatal(err)
				}
				return s
			},
			Reset: func(mq offset.MessageQueue, next int64) { c.Reset(group, mq, next) },
		}
	})
}

func TestLocalFileStoreIsAnOffsetStore(t *testing.T) {
	tidemarktest.TestOffsetStore(t, func(t *testing.T) tidemarktest.Subject {
		dir := t.TempDir()
		return tidemarktest.Subject{
			Keeps: true,
			Open: func() client.OffsetStore {
				s, err := client.NewLocalFileStore("10.0.0.1@DEFAULT", "billing", client.WithLocalDir(dir), client.WithPersistInterval(0))
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Load(); err != nil {
					t.Fatal(err)
				}
				return s
			},
		}
	})
}
