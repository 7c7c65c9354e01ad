package table

import (
	"strings"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// importing is the import under way.
type importing struct {
	status offset.ImportStatus
	// staged is what a replace will swap in; nil for a merge.
	staged *space
}

// importStep applies one entry of an import. Its id is an act id: known, it gets
// the answer that is remembered.
func (t *Table) importStep(a *offset.Act, ch *Changes) offset.ActResult {
	rec := t.acts.find(a.ID)
	underway := t.imp != nil && t.imp.status.ID == a.ID
	if a.Import.Step == offset.ImportBegin {
		return t.importBegin(a, rec)
	}
	if !underway {
		if rec != nil {
			return answerAfter(a.Import.Step, rec.Result)
		}
		return offset.ActResult{Code: offset.CodeNoImport, Index: t.index, Done: true}
	}
	w := &work{t: t, a: a, ch: ch, rec: *rec}
	switch a.Import.Step {
	case offset.ImportChunk:
		return w.chunk(a.Import)
	case offset.ImportSwap:
		return w.swap()
	}
	w.rec.Result.Code = offset.CodeNoImport
	t.dropStaged()
	res := w.end(true)
	res.Code = offset.CodeOK
	return res
}

// answerAfter is the answer to a step of an import that has ended. An abort has
// no id of its own: sent again, it gets the answer it had.
func answerAfter(step offset.ImportStep, res offset.ActResult) offset.ActResult {
	if step == offset.ImportAbort && res.Code == offset.CodeNoImport {
		res.Code = offset.CodeOK
	}
	return res
}

func (t *Table) importBegin(a *offset.Act, rec *ActRecord) offset.ActResult {
	content := contentOf(a)
	switch {
	case rec != nil && rec.Content != content: // the id stands for another act
		return offset.ActResult{Code: offset.CodeInvalid, Index: t.index, Done: true}
	case rec != nil:
		return rec.Result
	case a.Base < t.acts.evicted:
		return offset.ActResult{Code: offset.CodeTooOld, Index: t.index, Done: true}
	}
	w := &work{t: t, a: a, rec: ActRecord{ID: a.ID, Content: content, First: t.index}}
	i := a.Import
	switch {
	case t.imp != nil:
		w.rec.Result.Code = offset.CodeImportBusy
		return w.end(true)
	case a.Claim > 0 && i.Mode == offset.ImportReplace && t.lostReplace(a.Claim, i.Group):
		w.rec.Result.Code = offset.CodeSuperseded
		return w.end(true)
	case i.Mode == offset.ImportMerge && i.Chunks == 0:
		return w.end(true)
	}
	t.imp = &importing{status: offset.ImportStatus{
		ID: a.ID, Mode: i.Mode, Group: strings.Clone(i.Group), Hash: i.Hash, Chunks: i.Chunks, Offsets: i.Offsets, Base: a.Base,
	}}
	if i.Mode == offset.ImportReplace {
		t.imp.staged = t.live.stage(i.Group)
	}
	if planted.Is(planted.ReplaceInSteps) && i.Mode == offset.ImportReplace && i.Group != "" {
		t.replaceGroup(newSpace(t.gen), i.Group)
	}
	return w.await()
}

// await remembers an import that continues, and answers which chunk comes next.
func (w *work) await() offset.ActResult {
	w.run.close()
	r := &w.rec.Result
	r.Index, r.Done, r.Next = w.t.index, false, w.t.imp.status.Next
	if w.did {
		w.t.lastAct = w.t.index
	}
	rec := w.rec
	w.t.acts.put(&rec)
	return rec.Result
}

// chunk brings the next chunk in; any other changes nothing.
func (w *work) chunk(i *offset.Import) offset.ActResult {
	imp := w.t.imp
	if i.Chunk != imp.status.Next && !(planted.Is(planted.ChunkTwice) && i.Chunk < imp.status.Next) || i.Chunk >= imp.status.Chunks {
		return w.rec.Result
	}
	if w.a.Claim > 0 && w.t.lostTarget(w.a.Claim, i.Targets) {
		return offset.ActResult{Code: offset.CodeSuperseded, Index: w.t.index, Next: imp.status.Next}
	}
	for j := range i.Targets {
		if imp.staged != nil {
			w.stage(&i.Targets[j])
		} else {
			w.merge(&i.Targets[j])
		}
	}
	imp.status.Next++
	if imp.staged == nil && imp.status.Next == imp.status.Chunks {
		w.t.imp = nil
		return w.end(true)
	}
	return w.await()
}

// merge raises or creates one key, unless an act has moved it since the import began.
func (w *work) merge(x *offset.Target) {
	st := w.t.state(&w.run, &x.Key)
	switch {
	case st.Exists && st.Position.Offset >= x.Offset && !planted.Is(planted.MergeLowers):
		w.rec.Result.Kept++
	case st.Position.Epoch > w.t.imp.status.Base:
		w.keep(x.Key)
	default:
		w.move(&x.Key, x.Offset, false)
	}
}

// stage puts one key into the staged space, with the mark that it has in the table.
// Keys of other groups in a replace of a group are left out.
func (w *work) stage(x *offset.Target) {
	t := w.t
	if g := t.imp.status.Group; g != "" && g != x.Key.Group {
		w.rec.Result.Kept++
		return
	}
	var live run
	live.openKey(t.live, &x.Key)
	old := live.find(x.Key.QueueID)
	w.run.openKey(t.imp.staged, &x.Key)
	w.run.store(pack(fields{offset: x.Offset, id: x.Key.QueueID, pending: old != nil && old.pending()}))
}

// lostReplace: somebody has claimed a key of what is to be replaced.
func (t *Table) lostReplace(claim uint64, group string) bool {
	if group != "" {
		return t.lostGroup(claim, group, "", false)
	}
	for _, m := range []map[string]Claim{t.claims.groups, t.claims.brokers} {
		for _, c := range m {
			if c.Index > claim {
				return true
			}
		}
	}
	return false
}
