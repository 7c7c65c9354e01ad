//go:build tidemark_mutants

package planted

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// chosen is the mistake that is made.
var chosen atomic.Uint32

func init() {
	name := os.Getenv(Variable)
	if name == "" {
		return
	}
	m, err := ByName(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(64)
	}
	Plant(m)
}

// Is tells whether a mistake was chosen.
func Is(m Mistake) bool { return Mistake(chosen.Load()) == m }

// Plant chooses the mistake that all of this process makes from now on; None for
// none.
func Plant(m Mistake) { chosen.Store(uint32(m)) }

// Clock is what ApplyByClock reads: Unix milliseconds.
func Clock() int64 { return time.Now().UnixMilli() }
