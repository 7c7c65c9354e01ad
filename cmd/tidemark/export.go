package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// exportCmd writes offsets to a file.
type exportCmd struct {
	File    string   `arg:"" optional:"" default:"-" help:"File to write, replaced as a whole; - is standard output. With --each-broker a folder." placeholder:"FILE"`
	Format  string   `help:"json (consumerOffset.json, one broker a file), local (offsets.json of a broadcasting consumer, one --group), csv (all brokers), kafka (for kafka-consumer-groups.sh --from-file), or native (all brokers, with a sum that shows when it is not whole)." enum:"json,local,csv,kafka,native" default:"json"`
	Group   string   `help:"Only this group." placeholder:"GROUP"`
	Topic   string   `help:"Only this topic." placeholder:"TOPIC"`
	Broker  *string  `help:"Only this broker's; empty for keys without a broker." placeholder:"NAME"`
	Each    bool     `name:"each-broker" help:"Write BROKER/consumerOffset.json into the folder FILE for each broker, as an import of the folder reads them."`
	Without []string `help:"Leave this group out; may be given more than once." placeholder:"GROUP" sep:"none"`
	Base    string   `help:"A consumerOffset.json to lay the offsets over: what the cluster does not have stays as it is there." type:"path" placeholder:"FILE"`
	readLevel
}

// exportResult is what was written.
type exportResult struct {
	File    string `json:"file"`
	Format  string `json:"format"`
	Offsets uint64 `json:"offsets,string"`
	Index   uint64 `json:"index,string"`
}

func (r *exportResult) table(t *table) {
	t.line("%s: %s, as of index %d", r.File, plural(r.Offsets, "offset", "offsets"), r.Index)
}

// Run writes to the file, or spools and then copies to standard output, so
// that nothing or a whole file comes out.
func (c *exportCmd) Run(s *session) error {
	switch {
	case c.Base != "" && c.Format != "json":
		return exitf(exitUsage, "--base lays offsets over a consumerOffset.json; leave out --format %s", c.Format)
	case c.Format == "local" && c.Group == "":
		return exitf(exitUsage, "a broadcasting consumer's file is that of one group; name it (--group)")
	case c.Each:
		return c.eachBroker(s)
	}
	r := &exportResult{File: c.File, Format: c.Format}
	if c.File != "-" {
		if err := offsetfile.WriteFile(c.File, func(w io.Writer) error { return c.write(s, w, r) }); err != nil {
			return err
		}
		return s.print(r)
	}
	if err := c.spool(s, r); err != nil {
		return err
	}
	s.note("%s, as of index %d", plural(r.Offsets, "offset", "offsets"), r.Index)
	return nil
}

// spool writes to a file of nobody else's, and copies that.
func (c *exportCmd) spool(s *session, r *exportResult) error {
	f, err := os.CreateTemp("", "tidemark-export-*")
	if err != nil {
		return fmt.Errorf("creating a file to collect the output: %w", err)
	}
	early := os.Remove(f.Name()) // so that a kill leaves nothing; not every system lets one
	defer func() {
		f.Close()
		if early != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := c.write(s, f, r); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading the output back: %w", err)
	}
	if _, err := io.Copy(s.out, f); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// write writes all that the command selects.
func (c *exportCmd) write(s *session, w io.Writer, r *exportResult) error {
	e := &exporting{s: s, list: keyList(c.Group, c.Topic, c.Broker, c.at()), without: c.Without, result: r, bar: s.counter("exporting")}
	err := c.form(w, e)
	_ = e.bar.Finish() // a bar that does not draw is no reason to stop
	switch {
	case e.err != nil:
		return e.err
	case err == nil && r.Offsets == 0:
		return c.nothing()
	case err == nil && e.lmq > 0 && c.Format == "json":
		s.note("%s of LMQ groups in lmqOffsetTable: only a broker with enableLmq=true reads that, from lmqConsumerOffset.json", plural(e.lmq, "offset", "offsets"))
	}
	return err
}

// form writes in the form asked for.
func (c *exportCmd) form(w io.Writer, e *exporting) error {
	switch {
	case c.Format == "csv":
		return offsetfile.WriteCSV(w, e.targets())
	case c.Format == "kafka":
		return offsetfile.WriteKafka(w, e.targets())
	case c.Format == "native":
		return offsetfile.WriteNative(w, e.targets(), e.header)
	case c.Format == "local":
		return offsetfile.WriteLocal(w, e.local())
	case c.Base != "":
		return c.overBase(w, e.targets())
	}
	return offsetfile.WriteJSON(w, e.targets(), nil)
}

// nothing says whether an export without an offset is refused: where a filter
// selects nothing its name is mistaken, and a file that is there may be the
// last that holds what an empty cluster has lost.
func (c *exportCmd) nothing() error {
	filters := c.filters()
	if len(filters) > 0 {
		return offset.Errorf(offset.ErrNotFound, "the cluster holds no offset with %s; nothing was written", strings.Join(filters, " "))
	}
	if c.File == "-" || c.Base != "" {
		return nil
	}
	if _, err := os.Stat(c.File); err == nil {
		return exitf(exitRefused, "the cluster holds no offsets, and %q is not replaced by an empty table; remove it first if that is what you want", c.File)
	}
	return nil
}

// filters are the options that narrow what is exported, as they were given.
func (c *exportCmd) filters() (list []string) {
	if c.Group != "" {
		list = append(list, fmt.Sprintf("--group %q", c.Group))
	}
	if c.Topic != "" {
		list = append(list, fmt.Sprintf("--topic %q", c.Topic))
	}
	if c.Broker != nil {
		list = append(list, fmt.Sprintf("--broker %q", *c.Broker))
	}
	for _, g := range c.Without {
		list = append(list, fmt.Sprintf("--without %q", g))
	}
	return list
}

func (c *exportCmd) overBase(w io.Writer, targets iter.Seq[offset.Target]) error {
	f, err := os.Open(c.Base)
	if err != nil {
		return fmt.Errorf("opening the base file: %w", err)
	}
	defer f.Close()
	return offsetfile.WriteJSON(w, targets, f)
}

// exporting turns the pages of an export into targets.
type exporting struct {
	s    *session
	list offset.List
	// without are groups that are left out.
	without []string
	result  *exportResult
	bar     *progressbar.ProgressBar
	// cluster is where the offsets come from, lmq how many are of LMQ groups.
	cluster offset.ClusterID
	lmq     int
	// err is what ended the pages early.
	err error
}

// header says where the offsets come from; the first page has come.
func (e *exporting) header() offsetfile.Header {
	return offsetfile.Header{Cluster: e.cluster.String(), Index: e.result.Index, Written: e.s.clock().UnixMilli()}
}

// local collects the offsets of the one group.
func (e *exporting) local() map[offset.MessageQueue]int64 {
	m := map[offset.MessageQueue]int64{}
	for t := range e.targets() {
		m[t.Key.MessageQueue] = t.Offset
	}
	return m
}

var errStopped = errors.New("the reader of the export stopped")

func (e *exporting) targets() iter.Seq[offset.Target] {
	return func(yield func(offset.Target) bool) {
		err := e.s.export(e.list, func(p offset.Page) error {
			e.result.Index, e.cluster = p.Meta.Index, p.Meta.Cluster
			_ = e.bar.Add(len(p.Keys))
			for _, k := range p.Keys {
				if slices.Contains(e.without, k.Key.Group) {
					continue
				}
				if !yield(offset.Target{Key: k.Key, Offset: k.Position.Offset}) {
					return errStopped
				}
				e.result.Offsets++
				if offsetfile.IsLMQ(k.Key.Group) {
					e.lmq++
				}
			}
			return nil
		})
		if !errors.Is(err, errStopped) {
			e.err = err
		}
	}
}
