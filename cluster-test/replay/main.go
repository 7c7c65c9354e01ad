// Command replay checks a history again that a run has kept, and draws what it
// finds.
//
//	go run ./cluster-test/replay history-1-0.json.gz
//	go run ./cluster-test/replay history-1-0.json.gz drawn.html
//
// It ends with 1 if a promise is broken. The page shows the operations on one
// queue that the finding is about, and how far an order of them goes.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/cluster-test/history/verify"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: replay HISTORY [PAGE.html]")
		os.Exit(64)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string, page []string) error {
	h, err := record.Read(path)
	if err != nil {
		return err
	}
	counts, err := verify.All(h)
	fmt.Printf("seed %d, %d calls; checked: %+v\n", h.Seed, len(h.Ops), counts)
	if len(page) == 0 {
		return err
	}
	var v *verify.Violation
	errors.As(err, &v)
	return errors.Join(err, verify.Draw(h, v, page[0]))
}
