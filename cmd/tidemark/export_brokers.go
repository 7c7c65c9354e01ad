package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// brokersResult is what an export for each broker wrote.
type brokersResult struct {
	Files []exportResult `json:"files"`
}

func (r *brokersResult) table(t *table) {
	for i := range r.Files {
		r.Files[i].table(t)
	}
}

// eachBroker writes a file for each broker that has offsets: one pass to find
// them, and one for each. Each file is of one state, which the next may be
// newer than.
func (c *exportCmd) eachBroker(s *session) error {
	if c.File == "-" || c.Format != "json" || c.Base != "" || c.Broker != nil {
		return exitf(exitUsage, "--each-broker writes a consumerOffset.json for each broker into a folder; name the folder, and leave out --format, --base and --broker")
	}
	brokers, err := c.brokers(s)
	if err != nil {
		return err
	}
	if err := c.noOthers(brokers); err != nil {
		return err
	}
	r := &brokersResult{Files: []exportResult{}}
	for _, b := range brokers {
		one := *c
		one.File, one.Broker = c.fileOf(b), &b
		if err := os.MkdirAll(filepath.Dir(one.File), 0o700); err != nil {
			return fmt.Errorf("making the folder of broker %q: %w", b, err)
		}
		x := exportResult{File: one.File, Format: one.Format}
		if err := offsetfile.WriteFile(one.File, func(w io.Writer) error { return one.write(s, w, &x) }); err != nil {
			return err
		}
		r.Files = append(r.Files, x)
	}
	return s.print(r)
}

// brokers are the names that the selected offsets have, in order. Each must do
// for the name of a folder.
func (c *exportCmd) brokers(s *session) ([]string, error) {
	var read exportResult
	e := &exporting{s: s, list: keyList(c.Group, c.Topic, nil, c.at()), without: c.Without, result: &read, bar: s.counter("looking for brokers")}
	names := map[string]bool{}
	for t := range e.targets() {
		names[t.Key.Broker] = true
	}
	_ = e.bar.Finish() // a bar that does not draw is no reason to stop
	if e.err != nil {
		return nil, e.err
	}
	if len(names) == 0 {
		return nil, c.nothing()
	}
	list := slices.Sorted(maps.Keys(names))
	for _, b := range list {
		if err := folderFor(b); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// fileOf is where the offsets of a broker go.
func (c *exportCmd) fileOf(broker string) string {
	return filepath.Join(c.File, broker, "consumerOffset.json")
}

// noOthers refuses a folder in which an import would find what is not written
// now, such as the file of a broker that has no offsets any more.
func (c *exportCmd) noOthers(brokers []string) error {
	found, _ := offsetfile.Find(c.File) // where nothing can be found, nothing comes back
	for _, f := range found {
		if f.Path != c.File && !(slices.Contains(brokers, f.Broker) && f.Path == c.fileOf(f.Broker)) {
			return exitf(exitRefused, "%s is there, which this export does not replace and an import of the folder would bring in; remove it, or name another folder", shown(f.Path))
		}
	}
	return nil
}

// folderFor refuses a broker's name that is none for a folder, or that an import
// would not take for a broker's.
func folderFor(broker string) error {
	taken := []string{"config", "store"}
	switch {
	case broker == "":
		return offset.Errorf(offset.ErrInvalid, "some offsets have no broker name, and so no folder; export them by themselves (--broker \"\"), or use --format native")
	case strings.HasPrefix(broker, "."), strings.ContainsAny(broker, `/\:`), !filepath.IsLocal(broker), slices.Contains(taken, broker):
		return offset.Errorf(offset.ErrInvalid, "the broker name %q cannot name a folder; export it by itself (--broker), or use --format native", broker)
	}
	return nil
}
