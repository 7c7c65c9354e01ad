package main

import (
	"fmt"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// importCmd brings in files.
type importCmd struct {
	Files        []string `arg:"" optional:"" name:"file" help:"Files of offsets, each a consumerOffset.json (or lmqConsumerOffset.json) of a broker, a broadcasting consumer's offsets.json (offset.json), CSV of ours or of kafka-consumer-groups.sh, or what export --format native wrote; or folders that hold such files: a broker's store, a folder for each broker, ~/.rocketmq_offsets; or rocketmq://HOST:PORT, a running broker, or a name server for all of its brokers. BROKER=FILE names the broker that a file comes from." placeholder:"[BROKER=]FILE"`
	Format       string   `help:"What the files are: ${enum}. By default detected from their first bytes." enum:"auto,json,local,csv,kafka,kafka-group,native" default:"auto"`
	Merge        bool     `help:"Keep the larger offset of each key (the default)." xor:"mode"`
	Replace      bool     `help:"Replace all that is there, or all of --group, with the files' content." xor:"mode"`
	Group        string   `help:"Only this group of the files, or the group of a file that names none; with --replace, only this group is replaced." placeholder:"GROUP"`
	Broker       string   `help:"Name of the broker that the one file comes from, where files of its kind do not say it; without this, its keys get the empty broker name." placeholder:"NAME"`
	StrictNames  bool     `help:"Skip names that RocketMQ's own validators refuse."`
	AllowRemoval bool     `help:"Let a replace remove offsets that the files do not have."`
	Abort        bool     `help:"Drop the import that is under way."`
	DryRun       bool     `help:"Only show what would be done (the default)." xor:"do"`
	Execute      bool     `help:"Do it." xor:"do"`
}

// importResult is what an import did or would do.
type importResult struct {
	// Files are what was read, in the order of the command line.
	Files []fileResult `json:"files"`
	Mode  string       `json:"mode"`
	Group string       `json:"group,omitempty"`
	// Entries, Offsets and Skipped count over all files, of Group if it is set.
	Entries  int  `json:"entries"`
	Offsets  int  `json:"offsets"`
	Skipped  int  `json:"skippedTotal"`
	Executed bool `json:"executed"`
	// others counts entries of other groups than Group, which were left out.
	others int
	// Would is what a comparison before found; nil where none was needed.
	Would *difference `json:"would,omitempty"`
	// ID and Chunks are the import's; ID is empty if nothing had to be sent.
	ID     string `json:"id,omitempty"`
	Chunks uint32 `json:"chunks"`
	// Resumed is the chunk at which an import under way was continued.
	Resumed uint32 `json:"resumed,omitempty"`
	// Changed and Kept are what the cluster counted from there on.
	Changed uint64 `json:"changed,string"`
	Kept    uint64 `json:"kept,string"`
	Index   uint64 `json:"index,string,omitempty"`
}

func (r *importResult) table(t *table) {
	for i := range r.Files {
		r.Files[i].table(t)
	}
	if len(r.Files) > 1 {
		t.line("together: %s of %s", plural(r.Offsets, "offset", "offsets"), plural(r.Entries, "entry (topic@group)", "entries (topic@group)"))
	}
	if d := r.Would; d != nil {
		r.would(t, d)
	}
	if r.Executed && r.ID == "" {
		t.line("nothing was sent: there are no offsets to merge")
		return
	}
	if r.Executed {
		t.line("%s done at index %d: %d changed, %d left as they were", r.Mode, r.Index, r.Changed, r.Kept)
		return
	}
	t.line("nothing was done yet, add --execute%s", map[bool]string{true: " --allow-removal"}[r.removes() > 0])
}

func (r *importResult) would(t *table, d *difference) {
	t.line("%s, against index %d: %d new, %d raised, %d the same", r.Mode, d.Index, d.Creates, d.Raises, d.Same)
	if r.Mode == "merge" {
		t.line("%d are higher in the cluster, and stay", d.Lowers)
		return
	}
	t.line("%d lowered, %d REMOVED since the files do not have them", d.Lowers, d.Removes)
}

// removes is how many offsets a replace takes away.
func (r *importResult) removes() int {
	if r.Would == nil || r.Mode != "replace" {
		return 0
	}
	return r.Would.Removes
}

// Run checks the files whole, then shows or does the import.
func (c *importCmd) Run(s *session) error {
	switch {
	case c.Abort:
		return c.abort(s)
	case len(c.Files) == 0:
		return exitf(exitUsage, "expected a file to import (see \"tidemark import --help\")")
	}
	f, r, err := c.read(s)
	if err != nil {
		return err
	}
	if err := c.preview(s, f, r); err != nil {
		return err
	}
	if c.Execute {
		if err := c.execute(s, f, r); err != nil {
			return err
		}
	}
	if err := s.print(r); err != nil {
		return err
	}
	if n := r.Skipped; n > 0 {
		return exitf(exitPartial, "%s skipped; the report lists what was left out, and why", plural(n, "place was", "places were"))
	}
	return nil
}

// preview compares where the result shows it, or where something could be removed.
func (c *importCmd) preview(s *session, f *offsetfile.File, r *importResult) (err error) {
	if c.Execute && !c.Replace {
		return nil
	}
	if r.Would, err = s.compare(f, c.Group); err != nil {
		return err
	}
	if n := r.removes(); n > 0 && c.Execute && !c.AllowRemoval {
		return exitf(exitRefused, "replacing would remove %s that the files do not have; look at it without --execute, and add --allow-removal if that is what you want", plural(n, "offset", "offsets"))
	}
	return nil
}

// execute sends the file.
func (c *importCmd) execute(s *session, f *offsetfile.File, r *importResult) error {
	r.Executed = true
	if len(f.Entries) == 0 && !c.Replace {
		return nil
	}
	i := &importing{s: s, word: "import", chunks: cut(f), what: offset.Import{Group: "", Hash: f.Hash(), Offsets: uint64(f.Offsets())}}
	i.what.Chunks = i.chunks.count()
	if c.Replace {
		i.what.Mode, i.what.Group = offset.ImportReplace, c.Group
	}
	err := i.run()
	r.ID, r.Chunks, r.Resumed = i.act.ID.String(), i.what.Chunks, i.resumed
	r.Changed, r.Kept, r.Index = i.changed, i.kept, i.index
	return err
}

// abortResult is what was dropped or would be.
type abortResult struct {
	ID       string `json:"id"`
	Next     uint32 `json:"next"`
	Chunks   uint32 `json:"chunks"`
	Executed bool   `json:"executed"`
}

func (r *abortResult) table(t *table) {
	done := "would be dropped; nothing was done yet, add --execute"
	if r.Executed {
		done = "is dropped; what a merge has brought already stays"
	}
	t.line("import %s, at chunk %d of %d, %s", r.ID, r.Next, r.Chunks, done)
}

// abort drops the import under way.
func (c *importCmd) abort(s *session) error {
	if len(c.Files) > 0 {
		return exitf(exitUsage, "--abort takes no file: it drops whatever import is under way")
	}
	st, err := s.leaderStatus()
	if err != nil {
		return err
	}
	im := st.Import
	if im == nil {
		return offset.Errorf(offset.ErrNoImport, "there is nothing to abort")
	}
	if im.ID.IsZero() {
		return offset.Errorf(offset.ErrDenied, "an import is at chunk %d of %d, and is dropped by those alone who have the right to admin on all that it may touch", im.Next, im.Chunks)
	}
	r := &abortResult{ID: im.ID.String(), Next: im.Next, Chunks: im.Chunks, Executed: c.Execute}
	if c.Execute {
		a := offset.Act{ID: im.ID, Base: im.Base, Cluster: st.Meta.Cluster, Import: &offset.Import{Step: offset.ImportAbort, Mode: im.Mode, Group: im.Group}}
		if _, err := s.act(a); err != nil {
			return fmt.Errorf("aborting the import: %w", err)
		}
	}
	return s.print(r)
}
