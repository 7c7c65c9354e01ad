package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// sample is how one command is called so that it has something to say.
type sample struct {
	// args are its arguments; FILE and DIR stand for an offset file and a folder.
	args string
	// local: it asks no cluster.
	local bool
	// unknown are arguments that name what there is not, which is exit code 7;
	// empty where nothing can be named.
	unknown string
	// bare: it needs no arguments.
	bare bool
	// raw: what it prints is no result in one of the forms.
	raw bool
	// apart: it works on what a stopped node left, which other tests have.
	apart bool
}

// samples has each command that there is, so that none is left out of what
// holds for all of them.
var samples = map[string]sample{
	"get":                 {args: "g", unknown: "nobody"},
	"commit":              {args: "g t 0 5 --execute"},
	"group list":          {bare: true},
	"group describe":      {args: "g", unknown: "nobody"},
	"group reset":         {args: "g --to-offset 1 --execute", unknown: "nobody --to-offset 1"},
	"group set":           {args: "g t:0=4 --execute"},
	"group clone":         {args: "g new --execute --overwrite", unknown: "nobody new"},
	"group remove":        {args: "g --execute", unknown: "nobody"},
	"group expire":        {args: "--unmoved-since now --execute"},
	"topic list":          {bare: true},
	"topic describe":      {args: "t", unknown: "nothing"},
	"import":              {args: "FILE --execute"},
	"export":              {bare: true, unknown: "--group nobody", raw: true},
	"rocketmq diff":       {args: "namesrv:9876", unknown: "namesrv:9876 --broker nobody"},
	"cluster status":      {bare: true},
	"cluster add":         {args: "n4/dd h4:7412 --execute"},
	"cluster promote":     {args: "n2/bb --execute", unknown: "n9"},
	"cluster remove":      {args: "n2/bb --execute", unknown: "n9"},
	"cluster transfer":    {args: "n2/bb --execute", unknown: "n9", bare: true},
	"cluster raise-level": {args: "2 --execute"},
	"cluster snapshot":    {bare: true},
	"cluster claims":      {bare: true},
	"contexts list":       {bare: true, local: true},
	"contexts add":        {args: "c h:1", local: true},
	"contexts use":        {args: "one", local: true, unknown: "nowhere"},
	"contexts show":       {args: "one", local: true, unknown: "nowhere", bare: true},
	"contexts remove":     {args: "one", local: true, unknown: "nowhere"},
	"check health":        {bare: true},
	"check performance":   {bare: true},
	"cluster backup":      {args: "BACKUP --overwrite"},
	"cluster restore":     {args: "../../fsm/backup/testdata/version1/state.backup"},
	"cluster rescue":      {args: "../../fsm/backup/testdata/version1/state.backup DIR", local: true},
	"check backup":        {args: "../../fsm/backup/testdata/version1/state.backup", local: true},
	"dump backup":         {local: true, apart: true},
	"check disk":          {args: "DIR", local: true},
	"top":                 {args: "--interval 200ms", bare: true},
	"cert ca":             {args: "DIR", local: true},
	"cert node":           {args: "n1 h1 --dir CADIR", local: true},
	"cert client":         {args: "app --dir CADIR", local: true},
	"cert show":           {args: "CADIR/ca.crt", local: true},
	"token":               {args: "app", local: true},
	"dump entry":          {local: true, apart: true},
	"dump log":            {local: true, apart: true},
	"dump snapshot":       {local: true, apart: true},
	"version":             {bare: true, local: true},
	"man":                 {bare: true, local: true, raw: true},
	"completion bash":     {bare: true, local: true, raw: true},
	"completion zsh":      {bare: true, local: true, raw: true},
	"completion fish":     {bare: true, local: true, raw: true},
}

// TestC53EveryCommand (mxsm/rocketmq-rust#10768): whatever goes wrong, a command
// ends with the code of that, one line on standard error that says what to do
// next, and nothing, or a whole result, on standard output.
func TestC53EveryCommand(t *testing.T) {
	for _, leaf := range newParser(&app{}, streams{out: io.Discard, err: io.Discard}, nil).Model.Leaves(true) {
		name := strings.TrimPrefix(leaf.FullPath(), "tidemark ")
		s, ok := samples[name]
		if !ok {
			t.Errorf("there is no sample of %q", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := &commandTest{T: t, name: name, sample: s}
			c.works()
			c.withoutArguments()
			c.ofWhatThereIsNot()
			c.withAClosedPipe()
			c.interrupted()
			if !s.local {
				c.without(offset.ErrUnreachable, exitUnreachable, "check --endpoints")
				c.without(offset.ErrNoLeader, exitNoLeader, "cluster status")
				c.without(offset.ErrNotReady, exitUnhealthy, "readyz")
				c.without(offset.ErrDenied, exitRefused, "right")
			}
		})
	}
}

// commandTest tries one command.
type commandTest struct {
	*testing.T
	name string
	sample
}

// cluster makes one that has what the samples name.
func (c *commandTest) cluster() *fake {
	f := newFake()
	f.set(c.T, 5, key("g", "t", "", 0))
	f.set(c.T, 5, key("new", "t", "", 0))
	f.join("n2/bb", true, 0)
	f.answering = true
	f.brokers = &fakeBrokers{held: map[string]string{"bk": `{"offsetTable":{}}`}}
	f.saved = filepath.Join(c.TempDir(), "contexts.json")
	f.tidemark(c.T, "contexts", "add", "one", "h:1", "--use").want(c.T, 0, "one", "")
	return f
}

// line is the command line with arguments.
func (c *commandTest) line(args string) []string {
	list := strings.Fields(c.name)
	for _, a := range strings.Fields(args) {
		switch a {
		case "FILE":
			a = filepath.Join(c.TempDir(), "consumerOffset.json")
			write(c.T, a, `{"offsetTable":{"t@g":{0:9}}}`)
		case "DIR":
			a = c.TempDir()
		case "BACKUP":
			a = filepath.Join(c.TempDir(), "all.backup")
		case "CADIR", "CADIR/ca.crt":
			dir := c.TempDir()
			if r := newFake().tidemark(c.T, "cert", "ca", dir); r.code != 0 {
				c.Fatalf("%+v", r)
			}
			a = dir + strings.TrimPrefix(a, "CADIR")
		}
		list = append(list, a)
	}
	return list
}

// failed checks what a run that failed left.
func (c *commandTest) failed(why string, r ran, code int, says string) {
	c.Helper()
	lines := strings.Split(strings.TrimSuffix(r.err, "\n"), "\n")
	last := lines[len(lines)-1] // before it there may be remarks on a file
	if r.code != code || r.out != "" || !strings.HasPrefix(last, "tidemark: ") || !strings.Contains(last, says) || strings.Count("\n"+r.err, "\ntidemark: ") != 1 {
		c.Errorf("%s: exit code %d, want %d; standard output %q, standard error %q, want %q in its last line", why, r.code, code, r.out, r.err, says)
	}
}

func (c *commandTest) works() {
	if c.apart {
		return
	}
	r := c.cluster().tidemark(c.T, append(c.line(c.args), "-o", "json")...)
	if r.code != 0 || strings.Contains(r.err, "tidemark: ") || r.out == "" || !c.raw && !json.Valid([]byte(r.out)) {
		c.Errorf("it gives %+v", r)
	}
}

func (c *commandTest) withoutArguments() {
	r := c.cluster().tidemark(c.T, c.line("")...)
	if c.bare {
		if r.code != 0 {
			c.Errorf("without arguments it gives %+v", r)
		}
		return
	}
	c.failed("without arguments", r, exitUsage, `(see "tidemark `+c.name+` --help")`)
}

func (c *commandTest) ofWhatThereIsNot() {
	if c.unknown != "" {
		c.failed("of what there is not", c.cluster().tidemark(c.T, append(c.line(c.unknown), "-o", "json")...), exitNotFound, "no")
	}
}

func (c *commandTest) withAClosedPipe() {
	if c.apart {
		return
	}
	f := c.cluster()
	var errs bytes.Buffer
	code := run(c.Context(), c.line(c.args), streams{out: closedPipe{}, err: &errs, saved: f.saved, open: f.brokers.open}, func([]string) (cluster, error) { return f, nil })
	c.failed("into a closed pipe", ran{code, "", errs.String()}, exitFailed, "closed it early")
}

func (c *commandTest) interrupted() {
	if c.local {
		return
	}
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	c.failed("interrupted", c.cluster().tidemarkCtx(ctx, c.line(c.args)...), exitFailed, "stopped by a signal")
}

// without runs it on a cluster that answers with an error only.
func (c *commandTest) without(err error, code int, says string) {
	c.Helper()
	f := c.cluster()
	f.down = &client.Error{Op: "call", Attempts: 2, Err: err}
	c.failed(err.Error(), f.tidemark(c.T, append(c.line(c.args), "-o", "json")...), code, says)
}
