package table

import (
	"maps"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

func (p *plain) importStep(a *offset.Act) offset.ActResult {
	i, rec := a.Import, p.find(a.ID)
	if i.Step == offset.ImportBegin {
		return p.importBegin(a, rec)
	}
	if p.imp == nil || p.imp.ID != a.ID {
		if rec != nil {
			res := rec.res
			if i.Step == offset.ImportAbort && res.Code == offset.CodeNoImport {
				res.Code = offset.CodeOK
			}
			return res
		}
		return offset.ActResult{Code: offset.CodeNoImport, Index: p.index, Done: true}
	}
	superseded := offset.ActResult{Code: offset.CodeSuperseded, Index: p.index, Next: p.imp.Next}
	switch i.Step {
	case offset.ImportAbort:
		p.imp, p.staged = nil, nil
		rec.res.Code, rec.res.Done, rec.res.Next, rec.res.Index = offset.CodeNoImport, true, 0, p.index
		res := rec.res
		res.Code = offset.CodeOK
		return res
	case offset.ImportSwap:
		switch {
		case p.imp.Mode == offset.ImportMerge || p.imp.Next < p.imp.Chunks:
			return rec.res
		case p.lastAct > a.Base || a.Claim > 0 && p.lostReplace(a.Claim):
			return superseded
		}
		p.swap()
		rec.res.Changed, p.lastAct = uint64(len(p.staged)), p.index
		p.imp, p.staged = nil, nil
		rec.res.Done, rec.res.Next, rec.res.Index = true, 0, p.index
		return rec.res
	}
	if i.Chunk != p.imp.Next || i.Chunk >= p.imp.Chunks {
		return rec.res
	}
	if a.Claim > 0 && slices.ContainsFunc(i.Targets, func(t offset.Target) bool { return p.claim(t.Key.Group, t.Key.Broker) > a.Claim }) {
		return superseded
	}
	for _, t := range i.Targets {
		st := p.state(t.Key)
		switch {
		case p.imp.Mode == offset.ImportReplace && p.imp.Group != "" && t.Key.Group != p.imp.Group:
			rec.res.Kept++
		case p.imp.Mode == offset.ImportReplace:
			p.staged[t.Key] = t.Offset
		case st.Exists && st.Position.Offset >= t.Offset:
			rec.res.Kept++
		case st.Position.Epoch > p.imp.Base || a.Claim > 0 && st.Claim > a.Claim:
			p.keep(rec, t.Key)
		default:
			p.write(t.Key, t.Offset, false)
			p.did(rec)
		}
	}
	p.imp.Next++
	rec.res.Index, rec.res.Next = p.index, p.imp.Next
	if p.imp.Mode == offset.ImportMerge && p.imp.Next == p.imp.Chunks {
		p.imp = nil
		rec.res.Done, rec.res.Next = true, 0
	}
	return rec.res
}

func (p *plain) importBegin(a *offset.Act, rec *plainAct) offset.ActResult {
	i := a.Import
	switch {
	case rec != nil && rec.body != body(a):
		return offset.ActResult{Code: offset.CodeInvalid, Index: p.index, Done: true}
	case rec != nil:
		return rec.res
	case a.Base < p.evicted:
		return offset.ActResult{Code: offset.CodeTooOld, Index: p.index, Done: true}
	}
	rec = &plainAct{id: a.ID, body: body(a), first: p.index, res: offset.ActResult{Index: p.index, Done: true}}
	if p.imp != nil {
		rec.res.Code = offset.CodeImportBusy
	} else if i.Mode == offset.ImportReplace || i.Chunks > 0 {
		p.imp = &offset.ImportStatus{ID: a.ID, Mode: i.Mode, Group: i.Group, Hash: i.Hash, Chunks: i.Chunks, Offsets: i.Offsets, Base: a.Base}
		p.staged = map[offset.Key]int64{}
		rec.res.Done = false
		if a.Claim > 0 && i.Mode == offset.ImportReplace && p.lostReplace(a.Claim) {
			p.imp, p.staged = nil, nil
			rec.res.Done, rec.res.Code = true, offset.CodeSuperseded
		}
	}
	p.remember(rec)
	return rec.res
}

func (p *plain) lostReplace(claim uint64) bool {
	for _, c := range p.claims {
		in := p.imp.Group == "" || !c.ByBroker && c.Name == p.imp.Group
		for k := range p.keys {
			in = in || c.ByBroker && c.Name == k.Broker && k.Group == p.imp.Group
		}
		if in && c.Index > claim {
			return true
		}
	}
	return false
}

func (p *plain) swap() {
	old := maps.Clone(p.keys)
	maps.DeleteFunc(p.keys, func(k offset.Key, _ offset.Position) bool { return p.imp.Group == "" || k.Group == p.imp.Group })
	for k, off := range p.staged {
		p.keys[k] = offset.Position{Offset: off, Index: p.index, Epoch: p.index, Time: p.time, Pending: old[k].Pending}
	}
	if p.imp.Group != "" {
		p.moveFloor(false, p.imp.Group)
		return
	}
	p.floorAll, p.floors = p.index, nil
}
