//go:build !tidemark_break

package node

import "github.com/tidemark-mq/tidemark/node/store"

// breaks is what a release binary does not have: see break_on.go.
type breaks struct{}

func brokenOnPurpose() breaks { return breaks{} }

func (breaks) earlyAck([]*proposal) {}

func (breaks) window(n int) int { return n }

func (breaks) disk(u store.Unsafe) store.Unsafe { return u }
