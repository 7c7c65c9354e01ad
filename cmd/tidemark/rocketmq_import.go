package main

import (
	"fmt"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// liveScheme begins an argument that names running brokers instead of a file.
const liveScheme = "rocketmq://"

// liveAddr gives the address of an argument that names a broker or name server.
func liveAddr(path string) (addr string, ok bool) {
	addr, ok = strings.CutPrefix(path, liveScheme)
	return strings.TrimSuffix(addr, "/"), ok
}

// readLive reads what the brokers at an address hold now, each as one file.
func (c *importCmd) readLive(s *session, addr, broker string, parts *[]offsetfile.Part, r *importResult) error {
	if c.Format != "auto" {
		return offset.Errorf(offset.ErrInvalid, "%s%s: what a broker sends has one format; leave --format out", liveScheme, addr)
	}
	o := liveOptions{strict: c.StrictNames}
	if broker != "" {
		o.broker = &broker
	}
	return s.eachLive(addr, o, func(l *liveTable) error {
		path := liveScheme + l.broker.Addr
		f := l.file
		f.Report.Notes = append(f.Report.Notes, l.notes...)
		if l.system > 0 {
			f.Report.Notes = append(f.Report.Notes, fmt.Sprintf("left out %s of the broker's own groups (%s...)", plural(l.system, "offset", "offsets"), systemPrefix))
		}
		s.note("%s is read from the broker %q as it runs; what is committed there from now on is not in it", path, l.name)
		f = c.ofInterest(f, r)
		*parts = append(*parts, offsetfile.Part{Path: path, File: f})
		r.Files = append(r.Files, fileResult{path, l.name, f.Report})
		r.Skipped += f.Report.SkippedTotal
		return nil
	})
}
