// Command gaps tells how long acknowledgements stopped after each kill of a
// leader: from the kill to the first acknowledgement of any consumer after it.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/cluster-test/ackfile"
	"github.com/tidemark-mq/tidemark/offset"
)

type flags struct {
	Dir   string `help:"Where the consumers' files are." required:""`
	Kills string `help:"File with the moment of each kill, Unix nanoseconds, one a line." required:""`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Description("Measures the gaps that kills of the leader left."))
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "gaps:", err)
		os.Exit(1)
	}
}

func run(f flags) error {
	acks, err := acknowledged(f.Dir)
	if err != nil {
		return err
	}
	kills, err := moments(f.Kills)
	if err != nil {
		return err
	}
	var list []time.Duration
	for i, k := range kills {
		g, err := gap(acks, k)
		if err != nil {
			return fmt.Errorf("kill %d: %w", i+1, err)
		}
		fmt.Printf("kill %2d  %v\n", i+1, g.Round(time.Millisecond))
		list = append(list, g)
	}
	slices.Sort(list)
	fmt.Printf("kills %d  least %v  median %v  worst %v\n", len(list), list[0].Round(time.Millisecond),
		list[len(list)/2].Round(time.Millisecond), list[len(list)-1].Round(time.Millisecond))
	return nil
}

// Acknowledgements that were under way at the kill may be noted a little after
// it, so the gap is the widest one that begins in this window round the kill.
const before, after = 50 * time.Millisecond, 150 * time.Millisecond

func gap(acks []int64, kill int64) (time.Duration, error) {
	i, _ := slices.BinarySearch(acks, kill-int64(before))
	var widest, end int64
	for ; i+1 < len(acks) && acks[i] <= kill+int64(after); i++ {
		if w := acks[i+1] - acks[i]; w > widest {
			widest, end = w, acks[i+1]
		}
	}
	if end == 0 {
		return 0, errors.New("nothing was acknowledged just before it, or nothing after")
	}
	return time.Duration(end - kill), nil
}

func acknowledged(dir string) ([]int64, error) {
	var acks []int64
	err := ackfile.Files(dir, func(_ string, _ offset.Key, events []ackfile.Event) error {
		for _, e := range events {
			if e.Kind == ackfile.Acknowledged {
				acks = append(acks, e.Time.UnixNano())
			}
		}
		return nil
	})
	slices.Sort(acks)
	return acks, err
}

func moments(path string) ([]int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []int64
	for s := bufio.NewScanner(f); s.Scan(); {
		n, err := strconv.ParseInt(s.Text(), 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s names no kill", path)
	}
	return list, nil
}
