// Command check is the story's reckoning: it reads what the consumers noted,
// asks every node by the plain API, and prints what was acknowledged, lost and lowered. It
// shares no code with the consumers but the form of their files.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

type flags struct {
	Endpoints []string      `help:"API addresses of all nodes; each is asked by itself." required:""`
	File      string        `help:"The imported offset file; no offset of it may be missing or lower." required:""`
	Broker    string        `help:"The broker it was imported for." required:""`
	Dir       string        `help:"Where the consumers' files are." required:""`
	AtLeast   int           `help:"Fewer acknowledged offsets than that are a failure." default:"1"`
	Timeout   time.Duration `help:"How long to wait for all nodes." default:"60s"`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Description("Compares what consumers were told with what every node holds."))
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

func run(f flags) error {
	ctx, cancel := context.WithTimeout(context.Background(), f.Timeout)
	defer cancel()
	told, err := readTold(f.Dir)
	if err != nil {
		return err
	}
	file, err := offsetfile.ReadPath(f.File, offsetfile.Options{Broker: f.Broker})
	if err != nil {
		return err
	}
	imported := 0
	for t := range file.All() {
		told.atLeast(t.Key, t.Offset)
		imported++
	}
	lost, err := askAll(ctx, f.Endpoints, told)
	if err != nil {
		return err
	}
	digests, err := equalDigests(ctx, f.Endpoints)
	if err != nil {
		return err
	}
	fmt.Printf("acknowledged        %d offsets by %d consumers\n", told.acknowledged, told.files)
	fmt.Printf("imported            %d offsets\n", imported)
	fmt.Printf("unknown and resent  %d\n", told.resent)
	fmt.Printf("lost                %d\n", len(lost))
	fmt.Printf("lowered             %d\n", len(told.lowered))
	fmt.Printf("fenced              %d\n", told.fenced)
	fmt.Printf("longest gap         %v without any acknowledgement\n", told.longestGap().Round(time.Millisecond))
	fmt.Printf("digests             %s\n", digests)
	return verdict(f, told, lost)
}

func verdict(f flags, told *told, lost []loss) error {
	var errs []error
	show := func(list []loss) {
		for _, l := range list[:min(len(list), 10)] {
			errs = append(errs, errors.New(l.String()))
		}
	}
	show(lost)
	show(told.lowered)
	if told.fenced > 0 {
		errs = append(errs, errors.New("consumers were fenced, though nobody acted"))
	}
	if told.acknowledged < f.AtLeast {
		errs = append(errs, fmt.Errorf("only %d offsets were acknowledged; %d make a story", told.acknowledged, f.AtLeast))
	}
	return errors.Join(errs...)
}

// loss is an offset that was promised, and what there is instead.
type loss struct {
	where string
	key   offset.Key
	want  int64
	got   string
}

func (l loss) String() string {
	return fmt.Sprintf("%s: %s was acknowledged at %d, and is %s", l.where, l.key, l.want, l.got)
}
