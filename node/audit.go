package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/offset"
)

// The audit log keeps at most auditKept files of auditBytes besides the one that
// is written.
const (
	auditFile  = "audit.log"
	auditBytes = 64 << 20
	auditKept  = 8
)

// audit writes one JSON line for each record. It belongs to the goroutine of the
// queue; nothing waits for it, and what it can't write is counted and logged.
type audit struct {
	path string
	log  hclog.Logger
	file *os.File
	size int64
	lost func()
}

// openAudit opens the log for appending, and begins a new line if the last one
// is torn.
func openAudit(dir string, log hclog.Logger, lost func()) (*audit, error) {
	a := &audit{path: filepath.Join(dir, auditFile), log: log, lost: lost}
	if err := a.open(); err != nil {
		return nil, unusable(fmt.Errorf("opening the audit log: %w", err))
	}
	return a, nil
}

func (a *audit) open() error {
	f, err := os.OpenFile(a.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	a.file, a.size = f, st.Size()
	last := make([]byte, 1)
	if a.size > 0 {
		if _, err := f.ReadAt(last, a.size-1); err == nil && last[0] != '\n' {
			a.append([]byte("\n"))
		}
	}
	return nil
}

// auditLine is the form of a record in the file; fsm.Record says what each means.
type auditLine struct {
	Index     uint64 `json:"index"`
	Time      string `json:"time"`
	Principal string `json:"principal,omitempty"`
	From      string `json:"from,omitempty"`
	What      string `json:"what"`
	Since     uint64 `json:"since,omitempty"`
	// Act is the id of an act: what the lines of a cut act, of an import and of
	// resends have in common.
	Act    string `json:"act,omitempty"`
	Detail string `json:"detail,omitempty"`
	Result string `json:"result,omitempty"`
	// Answered is there if the answer is that of an earlier entry: nothing was
	// done at this one.
	Answered uint64 `json:"answered,omitempty"`
	Step     uint32 `json:"step,omitempty"`
	Changed  uint64 `json:"changed,omitempty"`
	Total    uint64 `json:"total,omitempty"`
	Kept     uint64 `json:"kept,omitempty"`
	Replaced uint64 `json:"replaced,omitempty"`
	// Lowered is there for the swap of a replace alone.
	Lowered *uint64      `json:"lowered,omitempty"`
	Keys    []auditedKey `json:"keys,omitempty"`
}

type auditedKey struct {
	Group  string `json:"group"`
	Topic  string `json:"topic"`
	Broker string `json:"broker,omitempty"`
	Queue  int32  `json:"queue"`
	// Before and After are offsets; absent where there was, or is, none.
	Before *int64 `json:"before,omitempty"`
	After  *int64 `json:"after,omitempty"`
}

// write appends one record and syncs it.
func (a *audit) write(r fsm.Record) {
	data, err := json.Marshal(lineOf(r))
	if err != nil {
		a.log.Error("an audit line can't be written as JSON", "index", r.Index, "error", err)
		a.lost()
		return
	}
	if a.size+int64(len(data)) > auditBytes {
		a.rotate()
	}
	a.append(append(data, '\n'))
	if a.file != nil {
		if err := a.file.Sync(); err != nil {
			a.failed(err)
		}
	}
}

func (a *audit) append(data []byte) {
	if a.file == nil && a.open() != nil {
		a.lost()
		return
	}
	n, err := a.file.Write(data)
	a.size += int64(n)
	if err != nil {
		a.failed(err)
	}
}

func (a *audit) failed(err error) {
	a.lost()
	a.log.Error("the audit log can't be written", "file", a.path, "error", err)
	a.close()
}

// rotate moves the files on by one number and drops the oldest.
func (a *audit) rotate() {
	a.close()
	for i := auditKept; i > 0; i-- {
		from := fmt.Sprintf("%s.%d", a.path, i-1)
		if i == 1 {
			from = a.path
		}
		if err := os.Rename(from, fmt.Sprintf("%s.%d", a.path, i)); err != nil && !errors.Is(err, os.ErrNotExist) {
			a.log.Error("the audit log can't be moved on", "file", from, "error", err)
		}
	}
	if err := a.open(); err != nil {
		a.log.Error("the audit log can't be opened anew", "file", a.path, "error", err)
	}
}

func (a *audit) close() {
	if a.file != nil {
		a.file.Close()
		a.file = nil
	}
}

func lineOf(r fsm.Record) auditLine {
	l := auditLine{
		Index: r.Index, Time: time.UnixMilli(r.Time).UTC().Format(time.RFC3339Nano),
		Principal: text(r.Principal), From: text(r.From), What: r.What, Since: r.Since,
		Detail: text(r.Detail), Step: r.Step, Changed: r.Changed, Total: r.Total, Kept: r.Kept, Replaced: r.Replaced,
	}
	if r.Lowered != nil {
		n := r.Lowered()
		l.Lowered = &n
	}
	if !r.Act.IsZero() {
		l.Act = r.Act.String()
	}
	if r.Answered != r.Index {
		l.Answered = r.Answered
	}
	l.Result = "ok"
	if r.Code != offset.CodeOK {
		l.Result = r.Code.Err().Error()
	}
	for _, c := range r.Keys {
		l.Keys = append(l.Keys, auditedKey{
			Group: text(c.Key.Group), Topic: text(c.Key.Topic), Broker: text(c.Key.Broker), Queue: c.Key.QueueID,
			Before: offsetOf(c.Before), After: offsetOf(c.After),
		})
	}
	return l
}

func offsetOf(s offset.KeyState) *int64 {
	if !s.Exists {
		return nil
	}
	return &s.Position.Offset
}

// text keeps a name from the network valid in JSON, which escapes the rest.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
