package rule

import (
	"maps"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

func (p *State) importStep(a *offset.Act) offset.ActResult {
	i, rec := a.Import, p.find(a.ID)
	if i.Step == offset.ImportBegin {
		return p.importBegin(a, rec)
	}
	if p.Import == nil || p.Import.ID != a.ID {
		if rec != nil {
			res := rec.res
			if i.Step == offset.ImportAbort && res.Code == offset.CodeNoImport {
				res.Code = offset.CodeOK
			}
			return res
		}
		return offset.ActResult{Code: offset.CodeNoImport, Index: p.Index, Done: true}
	}
	superseded := offset.ActResult{Code: offset.CodeSuperseded, Index: p.Index, Next: p.Import.Next}
	switch i.Step {
	case offset.ImportAbort:
		p.Import, p.Staged = nil, nil
		rec.res.Code, rec.res.Done, rec.res.Next, rec.res.Index = offset.CodeNoImport, true, 0, p.Index
		res := rec.res
		res.Code = offset.CodeOK
		return res
	case offset.ImportSwap:
		switch {
		case p.Import.Mode == offset.ImportMerge || p.Import.Next < p.Import.Chunks:
			return rec.res
		case p.LastAct > a.Base || a.Claim > 0 && p.lostReplace(a.Claim):
			return superseded
		}
		p.swap()
		rec.res.Changed, p.LastAct = uint64(len(p.Staged)), p.Index
		p.Import, p.Staged = nil, nil
		rec.res.Done, rec.res.Next, rec.res.Index = true, 0, p.Index
		return rec.res
	}
	if i.Chunk != p.Import.Next || i.Chunk >= p.Import.Chunks {
		return rec.res
	}
	if a.Claim > 0 && slices.ContainsFunc(i.Targets, func(t offset.Target) bool { return p.claim(t.Key.Group, t.Key.Broker) > a.Claim }) {
		return superseded
	}
	for _, t := range i.Targets {
		st := p.Get(t.Key)
		switch {
		case p.Import.Mode == offset.ImportReplace && p.Import.Group != "" && t.Key.Group != p.Import.Group:
			rec.res.Kept++
		case p.Import.Mode == offset.ImportReplace:
			p.Staged[t.Key] = t.Offset
		case st.Exists && st.Position.Offset >= t.Offset:
			rec.res.Kept++
		case st.Position.Epoch > p.Import.Base || a.Claim > 0 && st.Claim > a.Claim:
			p.keep(rec, t.Key)
		default:
			p.write(t.Key, t.Offset, false)
			p.did(rec)
		}
	}
	p.Import.Next++
	rec.res.Index, rec.res.Next = p.Index, p.Import.Next
	if p.Import.Mode == offset.ImportMerge && p.Import.Next == p.Import.Chunks {
		p.Import = nil
		rec.res.Done, rec.res.Next = true, 0
	}
	return rec.res
}

func (p *State) importBegin(a *offset.Act, rec *record) offset.ActResult {
	i := a.Import
	switch {
	case rec != nil && rec.body != body(a):
		return offset.ActResult{Code: offset.CodeInvalid, Index: p.Index, Done: true}
	case rec != nil:
		return rec.res
	case a.Base < p.Evicted:
		return offset.ActResult{Code: offset.CodeTooOld, Index: p.Index, Done: true}
	}
	rec = &record{id: a.ID, body: body(a), first: p.Index, res: offset.ActResult{Index: p.Index, Done: true}}
	if p.Import != nil {
		rec.res.Code = offset.CodeImportBusy
	} else if i.Mode == offset.ImportReplace || i.Chunks > 0 {
		p.Import = &offset.ImportStatus{ID: a.ID, Mode: i.Mode, Group: i.Group, Hash: i.Hash, Chunks: i.Chunks, Offsets: i.Offsets, Base: a.Base}
		p.Staged = map[offset.Key]int64{}
		rec.res.Done = false
		if a.Claim > 0 && i.Mode == offset.ImportReplace && p.lostReplace(a.Claim) {
			p.Import, p.Staged = nil, nil
			rec.res.Done, rec.res.Code = true, offset.CodeSuperseded
		}
	}
	p.remember(rec)
	return rec.res
}

func (p *State) lostReplace(claim uint64) bool {
	for _, c := range p.Claims {
		in := p.Import.Group == "" || !c.ByBroker && c.Name == p.Import.Group
		for k := range p.Keys {
			in = in || c.ByBroker && c.Name == k.Broker && k.Group == p.Import.Group
		}
		if in && c.Index > claim {
			return true
		}
	}
	return false
}

func (p *State) swap() {
	old := maps.Clone(p.Keys)
	maps.DeleteFunc(p.Keys, func(k offset.Key, _ offset.Position) bool { return p.Import.Group == "" || k.Group == p.Import.Group })
	for k, off := range p.Staged {
		p.Keys[k] = offset.Position{Offset: off, Index: p.Index, Epoch: p.Index, Time: p.Time, Pending: old[k].Pending}
	}
	if p.Import.Group != "" {
		p.moveFloor(false, p.Import.Group)
		return
	}
	p.FloorAll, p.Floors = p.Index, nil
}
