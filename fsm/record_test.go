package fsm

import (
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// audited returns an FSM and where its records go.
func audited() (*FSM, *[]Record) {
	var list []Record
	return New(Config{Cluster: testCluster, Audit: func(r Record) { list = append(list, r) }}), &list
}

func act(id byte, base uint64, set func(*offset.Act)) entry.Request {
	a := &offset.Act{ID: offset.ActID{id}, Base: base, Cluster: testCluster}
	set(a)
	return entry.Request{Principal: "admin", From: "192.0.2.7:50112", Act: a}
}

// Every act leaves a record, which says who, from where, what, before and after.
func TestEveryActLeavesARecord(t *testing.T) {
	f, records := audited()
	queue := key("g")
	for i, c := range []struct {
		r    entry.Request
		want string
	}{
		{commit("g", 5), ""},
		{entry.Request{Principal: "app", From: "h", Set: &offset.Set{Key: queue, Offset: 4, Cluster: testCluster, Exists: true, Replaces: 5}},
			`set changed=1/1 kept=0 ok [5>4] group="g" topic="t" broker="b" queue=0 offset=4 epoch=0 replaces=5`},
		{entry.Request{Principal: "app", From: "h", Set: &offset.Set{Key: queue, Offset: 9, Cluster: testCluster, Epoch: 1, Operator: true, Claim: 3}},
			`set changed=0/0 kept=0 fenced [] group="g" topic="t" broker="b" queue=0 offset=9 epoch=1 operator=true claim=3`},
		{reset(1, 3, 1), `reset changed=1/1 kept=0 ok [4>3] keys=1 base=3`},
		{reset(1, 3, 1), `reset changed=0/1 kept=0 ok [] keys=1 base=3`},
		{act(2, 5, func(a *offset.Act) { a.Clone = &offset.Clone{From: "g", To: "new"} }), `clone changed=1/1 kept=0 ok [none>3] from="g" to="new" base=5`},
		{act(3, 6, func(a *offset.Act) { a.Remove = &offset.Remove{Scope: offset.Scope{Group: "new\n", Topic: "t"}} }),
			`remove changed=0/0 kept=0 ok [] group="new\n" topic="t" base=6`},
		{act(4, 7, func(a *offset.Act) {
			a.Remove = &offset.Remove{Scope: offset.Scope{Group: "new", Topic: "t", HasBroker: true, Broker: "b", HasQueue: true}}
		}),
			`remove changed=1/1 kept=0 ok [3>none] group="new" topic="t" broker="b" queue=0 base=7`},
		{act(5, 8, func(a *offset.Act) { a.Take = &offset.Take{Name: "g", Holder: "me"} }), `claim changed=0/0 kept=0 ok [] group="g" holder="me" base=8`},
		{act(6, 9, func(a *offset.Act) { a.Expire = &offset.Expire{Groups: []offset.Idle{{Group: "g", Seen: 9}}} }),
			`expire changed=1/1 kept=0 ok [3>none] groups=1 group="g" base=9`},
		{act(7, 11, func(a *offset.Act) {
			a.Import = &offset.Import{Step: offset.ImportBegin, Chunks: 1, Offsets: 1}
		}),
			`import changed=0/0 kept=0 ok [] step=begin mode=merge chunks=1 offsets=1 base=11`},
		{act(7, 11, func(a *offset.Act) {
			a.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: queue, Offset: 70}}}
		}),
			`import changed=1/1 kept=0 ok [none>70] step=chunk chunk=0 keys=1 base=11`},
		{act(8, 12, func(a *offset.Act) { a.Import = &offset.Import{Step: offset.ImportSwap}; a.Claim = 9 }),
			`import changed=0/0 kept=0 no such import under way [] step=swap base=12 through-claim=9`},
		{act(9, 12, func(a *offset.Act) { a.Import = &offset.Import{Step: offset.ImportAbort} }), ""},
		{entry.Request{Principal: "admin", From: "192.0.2.7:50112", Level: 1}, `level changed=0/0 kept=0 ok [] before=1 after=1`},
		{announce("n1/a"), `announce changed=0/0 kept=0 ok [] member="n1/a" api="n1/a:7411" max-level=1`},
		{entry.Request{Forget: "n1/a"}, `forget changed=0/0 kept=0 ok [] member="n1/a"`},
	} {
		*records = nil
		index := uint64(i) + 2
		f.Apply(sealed(t, index, c.r))
		if c.want == "" {
			continue
		}
		if len(*records) != 1 {
			t.Fatalf("request %d left %d records", i, len(*records))
		}
		r := (*records)[0]
		if got := brief(&r); got != c.want {
			t.Errorf("request %d left\n%s\nwanted\n%s", i, got, c.want)
		}
		if r.Index != index || r.Principal != c.r.Principal || r.From != c.r.From || r.Time != 1_700_000_000_000 {
			t.Errorf("request %d left a record of %q from %q at %d, time %d", i, r.Principal, r.From, r.Index, r.Time)
		}
		if resent := i == 4; resent != (r.Answered != 0 && r.Answered != index) {
			t.Errorf("request %d: answered at %d", i, r.Answered)
		}
	}
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
}

func brief(r *Record) string {
	result := "ok"
	if r.Code != offset.CodeOK {
		result = r.Code.Err().Error()
	}
	var moves []string
	for _, c := range r.Keys {
		moves = append(moves, at(&c.Before)+">"+at(&c.After))
	}
	return fmt.Sprintf("%s changed=%d/%d kept=%d %s %v %s", r.What, r.Changed, r.Total, r.Kept, result, moves, r.Detail)
}

func at(s *offset.KeyState) string {
	if !s.Exists {
		return "none"
	}
	return fmt.Sprint(s.Position.Offset)
}

// A record of many keys names some, and counts all; it stays as it is when the
// next one is made.
func TestRecordOfManyKeys(t *testing.T) {
	f, records := audited()
	f.ApplyBatch(toLogs(sealed(t, 1, reset(1, 0, 250)), sealed(t, 2, reset(2, 1, 3))))
	r := (*records)[0]
	if r.Changed != 250 || r.Total != 250 || len(r.Keys) != offset.MaxNames {
		t.Fatalf("it counts %d of %d, and names %d", r.Changed, r.Total, len(r.Keys))
	}
	if k := r.Keys[0]; k.Before.Exists || !k.After.Position.Pending || k.After.Position.Index != 1 || k.Key != key("g") {
		t.Errorf("the first key is %+v", k)
	}
}

func TestRestoreLeavesAGap(t *testing.T) {
	f, records := audited()
	f.Apply(sealed(t, 5, commit("g", 1)))
	restoreInto(t, f, goldenSnapshot(t))
	if len(*records) != 1 {
		t.Fatalf("%d records", len(*records))
	}
	if r := (*records)[0]; r.What != "gap" || r.Since != 5 || r.Index != 20 {
		t.Errorf("the record is %+v", r)
	}
}

// Nobody asks for records: none is made.
func TestNoAuditNoChanges(t *testing.T) {
	f := New(Config{Cluster: testCluster})
	f.Apply(sealed(t, 1, reset(1, 0, 50)))
	if n := len(f.changes.First); n != 0 {
		t.Errorf("%d changes were collected", n)
	}
}
