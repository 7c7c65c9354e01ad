package dump

import (
	"encoding/hex"
	"io"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/backup"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// Snapshot prints a snapshot of any cluster. The error is that of r or w, or
// wraps offset.ErrDamaged or offset.ErrLevel; what comes before the damage has
// been printed by then. The line "end" is printed only if the counts match;
// the digest is printed, not compared, since that needs the whole state.
func Snapshot(w io.Writer, r io.Reader) error {
	p := &printer{lines: newLines(w)}
	return p.close(fsm.ScanSnapshot(r, p))
}

// printer is a fsm.SnapshotVisitor.
type printer struct {
	*lines
	base table.Stamp // of the last replace of all
}

type headLine struct {
	Level   uint8  `json:"level"`
	Cluster string `json:"cluster"`
}

type stateLine struct {
	Index      number `json:"index"`
	Time       string `json:"time"`
	LastAct    number `json:"last_act"`
	Evicted    number `json:"newest_forgotten_act"`
	BaseIndex  number `json:"base_index"`
	FloorOfAll number `json:"floor_of_all"`
	Queues     number `json:"queues"`
	Staged     number `json:"staged"`
}

type floorLine struct {
	Group *string `json:"group,omitempty"`
	Topic *string `json:"topic,omitempty"`
	Index number  `json:"index"`
	Order uint32  `json:"order,omitempty"`
}

type claimLine struct {
	claimAsk
	Index number `json:"index"`
}

type recordLine struct {
	ID      string    `json:"id"`
	Content string    `json:"content"`
	First   number    `json:"first"`
	Order   uint32    `json:"order,omitempty"`
	Code    uint8     `json:"code"`
	Index   number    `json:"index"`
	Done    bool      `json:"done"`
	Next    uint32    `json:"next"`
	Changed number    `json:"changed"`
	Kept    number    `json:"kept"`
	Names   []keyName `json:"names,omitempty"`
	After   *keyName  `json:"after,omitempty"`
}

type importLine struct {
	ID      string `json:"id"`
	Mode    string `json:"mode"`
	Group   string `json:"group,omitempty"`
	Hash    string `json:"hash,omitempty"`
	Chunks  uint32 `json:"chunks"`
	Offsets number `json:"offsets"`
	Next    uint32 `json:"next"`
	Base    number `json:"base"`
}

type positionLine struct {
	keyName
	Offset  number `json:"offset"`
	Index   number `json:"index"`
	Epoch   number `json:"epoch"`
	Time    string `json:"time,omitempty"`
	Pending bool   `json:"pending,omitempty"`
	Staged  bool   `json:"staged,omitempty"`
	// Based: index, epoch and time are those of the replace that brought it in.
	Based bool `json:"based,omitempty"`
}

type endLine struct {
	Blocks number `json:"blocks"`
	Runs   number `json:"runs"`
	Queues number `json:"queues"`
	Staged number `json:"staged"`
	Index  number `json:"index"`
	Digest string `json:"digest"`
}

// Head prints what the head says.
func (p *printer) Head(level uint8, cluster offset.ClusterID) error {
	p.named("snapshot", headLine{level, cluster.String()})
	return p.err
}

// Rest prints all but the keys.
func (p *printer) Rest(r *table.Rest) error {
	p.base = r.Base
	p.named("state", stateLine{
		number(r.Index), clock(r.Time), number(r.LastAct), number(r.Evicted), number(r.Base.Index),
		number(r.FloorOfAll), number(r.Queues), number(r.StagedQueues),
	})
	for _, f := range r.Floors {
		p.named("floor", floorLine{given(!f.Topic, f.Name), given(f.Topic, f.Name), number(f.Index), f.Order})
	}
	for _, c := range r.Claims {
		p.named("claim", claimLine{claimAsk{given(!c.ByBroker, c.Name), given(c.ByBroker, c.Name), c.Holder}, number(c.Index)})
	}
	for i := range r.Acts {
		p.named("act", recordOf(&r.Acts[i]))
	}
	if i := r.Import; i != nil {
		p.named("import", importLine{i.ID.String(), modeName(i.Mode), i.Group, hash(i.Hash), i.Chunks, number(i.Offsets), i.Next, number(i.Base)})
	}
	for _, m := range r.Members {
		p.named("member", memberLine{m.ID, m.API, m.MaxLevel})
	}
	return p.err
}

func recordOf(a *table.ActRecord) recordLine {
	r := &a.Result
	line := recordLine{
		ID: a.ID.String(), Content: hex.EncodeToString(a.Content[:]), First: number(a.First), Order: a.Order, Code: uint8(r.Code), Index: number(r.Index), Done: r.Done,
		Next: r.Next, Changed: number(r.Changed), Kept: number(r.Kept),
	}
	for i := range r.Names {
		line.Names = append(line.Names, nameOf(&r.Names[i]))
	}
	if a.Begun {
		line.After = given(true, nameOf(&a.Cursor))
	}
	return line
}

// Run prints a line for each key of a run.
func (p *printer) Run(t *table.TopicState) error {
	base := t.Base
	if base.Index < p.base.Index && !t.Staged {
		base = p.base
	}
	for _, q := range t.Queues {
		based := q.Index == 0 && !t.Staged
		if based {
			q.Index, q.Epoch, q.Time = base.Index, base.Index, base.Time
		}
		p.put(positionLine{
			keyName{t.Group, t.Topic, t.Broker, q.QueueID},
			number(q.Offset), number(q.Index), number(q.Epoch), clock(q.Time), q.Pending, t.Staged, based,
		})
	}
	return p.err
}

// End prints what the end says.
func (p *printer) End(e *fsm.SnapshotEnd) error {
	p.named("end", endLine{number(e.Blocks), number(e.Runs), number(e.Queues), number(e.Staged), number(e.Index), e.Digest.String()})
	return p.err
}

// named prints a part under its name.
func (p *printer) named(name string, v any) { p.put(map[string]any{name: v}) }

type backupLine struct {
	Version uint8  `json:"version"`
	ID      string `json:"id"`
	Time    string `json:"time"`
	Node    string `json:"node"`
	Build   string `json:"build"`
}

// Backup prints what the head of a backup says.
func (p *printer) Backup(h backup.Header, id backup.ID) error {
	p.named("backup", backupLine{backup.Version, id.String(), clock(h.Time), h.Node, h.Build})
	return p.err
}

// Backup prints a backup of size bytes as Snapshot prints a snapshot, once the
// sum of all of it has been found right.
func Backup(w io.Writer, r io.ReaderAt, size int64) error {
	p := &printer{lines: newLines(w)}
	return p.close(backup.Scan(r, size, p))
}
