package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// queues are the keys of n queues of a topic.
func queues(group, topic string, n int32) []offset.Key {
	list := make([]offset.Key, n)
	for i := range list {
		list[i] = key(group, topic, "b", int32(i))
	}
	return list
}

// fill puts offsets in by one commit.
func (f *fake) fill(t *testing.T, n int64, keys []offset.Key) {
	t.Helper()
	list := make([]offset.Commit, len(keys))
	for i, k := range keys {
		list[i] = offset.Commit{Key: k, Offset: n}
	}
	if _, _, err := f.Commit(t.Context(), fakeID, list); err != nil {
		t.Fatal(err)
	}
}

// operator runs the program once, just before the next act is applied.
func (f *fake) operator(t *testing.T, args ...string) {
	f.before = func() {
		f.before = nil
		f.tidemark(t, args...).want(t, 0, " ", "")
	}
}

// TestMovesAreOneAct with an id, the index that was read and the cluster, and
// none at all without --execute.
func TestMovesAreOneAct(t *testing.T) {
	for _, args := range [][]string{
		{"group", "reset", "g", "--to-offset", "1"},
		{"group", "reset", "g", "--shift-by=-1"},
		{"group", "reset", "g", "--from-group", "other"},
		{"group", "set", "g", "t:0=1", "t:1=2", "new:5=0"},
		{"group", "clone", "g", "fresh"},
		{"group", "remove", "g"},
		{"group", "expire", "--unmoved-since", "now"},
	} {
		f := newFake()
		f.set(t, 5, key("g", "t", "", 0), key("g", "t", "", 1), key("other", "u", "", 0))
		before, base := f.all(), f.index
		f.tidemark(t, args...).want(t, 0, "nothing was done yet, add --execute", "")
		if len(f.acts) > 0 || f.all() != before {
			t.Fatalf("%q did something without --execute", args)
		}
		f.tidemark(t, append(args, "--execute")...).want(t, 0, "by act ", "")
		if len(f.acts) != 1 || f.all() == before {
			t.Fatalf("%q sent %d acts, and left\n%s", args, len(f.acts), f.all())
		}
		if a := f.acts[0]; a.ID.IsZero() || a.Base != base || a.Cluster != fakeID {
			t.Errorf("%q sent %+v, want the base %d", args, a, base)
		}
	}
}

// TestExpectIndexZero is an index like any other: nothing has moved since, if
// nothing is there.
func TestExpectIndexZero(t *testing.T) {
	f := newFake()
	set := []string{"group", "set", "g", "t:0=1", "--expect-index", "0", "--execute"}
	f.tidemark(t, set...).want(t, 0, "moved 1 of 1", "")
	f.tidemark(t, set...).want(t, exitRefused, "", "after index 0")
}

// TestEmptyNamesDoNotMeanAll: a variable that is not set narrows nothing, and
// must not do with all what was meant for one.
func TestEmptyNamesDoNotMeanAll(t *testing.T) {
	for _, args := range [][]string{
		{"group", "remove", "g", "--topic", ""},
		{"group", "remove", "g", "--topic", "t", "--broker", "", "--queue="},
		{"group", "clone", "g", "h", "--topic="},
		{"export", "--group", ""},
		{"export", "--without", "h", "--without="},
		{"group", "reset", "g", "--to-offset", "0", "--queue", ""},
		{"group", "expire", "--unmoved-since", "now", "--prefix", ""},
		{"group", "expire", "--unmoved-since", "now", "--without", ""},
		{"group", "expire", "--unmoved-since", "now", "--prefix", "g", "--without="},
		{"group", "list", "--namespace", ""},
		{"topic", "list", "--prefix="},
		{"import", cases + "C05.fresh.consumerOffset.json", "--replace", "--allow-removal", "--group", ""},
	} {
		f := newFake()
		f.set(t, 5, key("g", "t", "", 0), key("g", "t", "", 1))
		before := f.all()
		if args[0] != "export" && args[1] != "list" {
			args = append(args, "--execute")
		}
		f.tidemark(t, args...).want(t, exitBadInput, "", "is empty")
		if f.all() != before {
			t.Errorf("%q left %q", args, f.all())
		}
	}
}

// TestExpiryOfWhatIsToCome: by a time that is to come, all groups have not moved.
func TestExpiryOfWhatIsToCome(t *testing.T) {
	f := newFake()
	f.set(t, 5, key("g", "t", "", 0))
	f.tidemark(t, "group", "expire", "--unmoved-since", "2062-01-01", "--execute").want(t, exitBadInput, "", "still to come")
	if len(f.acts) > 0 {
		t.Errorf("%d acts", len(f.acts))
	}
}

// TestExpiryGoesByTheLeadersClock: one of the caller's that is ahead would make
// busy groups idle.
func TestExpiryGoesByTheLeadersClock(t *testing.T) {
	f := newFake()
	f.set(t, 5, key("g", "t", "", 0))
	f.tidemark(t, "group", "expire", "--unmoved-since", "30m").want(t, 0, "1 group would be removed", "")
	f.alter = func(_ string, st *offset.Status) { st.Vitals.Clock = fakeStart + 60_000 }
	f.tidemark(t, "group", "expire", "--unmoved-since", "30m", "--execute").want(t, 0, "0 groups have not moved", "")
	if len(f.acts) > 0 {
		t.Errorf("%d acts", len(f.acts))
	}
}

// TestActsThatAreTooLarge are refused with how to make them smaller.
func TestActsThatAreTooLarge(t *testing.T) {
	f := newFake()
	f.set(t, 5, key("g", "t", "", 0))
	f.lose, f.answer = true, func() error { return offset.Errorf(offset.ErrInvalid, "the request has 2000000 bytes") }
	f.tidemark(t, "group", "reset", "g", "--to-offset", "1", "--execute").want(t, exitBadInput, "", "--topic, --broker or --queue")
	f.tidemark(t, "group", "expire", "--unmoved-since", "now", "--execute").want(t, exitBadInput, "", "lower --limit")
}

// TestOutcomesBeyondWhatAnAnswerNames: of more keys that were left alone than an
// answer names, each is told all the same.
func TestOutcomesBeyondWhatAnAnswerNames(t *testing.T) {
	const all, theirs = 400, 150
	f := newFake()
	keys := queues("g", "t", all)
	f.fill(t, 5, keys)
	set := []string{"group", "set", "g", "--broker", "b", "--execute"}
	for i := range theirs {
		set = append(set, fmt.Sprintf("t:%d=7", 2*i))
	}
	f.operator(t, set...)
	var r movesResult
	out := f.tidemark(t, "group", "reset", "g", "--to-offset", "1", "--execute", "-o", "json").want(t, exitPartial, "{", "150 queues were left alone")
	if err := json.Unmarshal([]byte(out.out), &r); err != nil {
		t.Fatal(err)
	}
	if r.LeftAlone != theirs || r.Moved != all-theirs || len(r.Keys) != all {
		t.Errorf("%d moved, %d left alone, %d listed", r.Moved, r.LeftAlone, len(r.Keys))
	}
	for i, m := range r.Keys {
		want := moved
		if i%2 == 0 && i < 2*theirs {
			want = leftAlone
		}
		now := f.table.Root().Get(keys[i]).Position.Offset
		if m.Outcome != want || (want == moved) != (now == 1) {
			t.Errorf("queue %d is at %d and told as %q, want %q", i, now, m.Outcome, want)
		}
	}
}

// TestExpectIndexRefusesWhatHasMoved: a commit, an act or a removal since the
// index that was shown ends the command with 4, and changes nothing.
func TestExpectIndexRefusesWhatHasMoved(t *testing.T) {
	changes := map[string]func(*testing.T, *fake){
		"committed at index 4": func(t *testing.T, f *fake) { f.set(t, 9, key("g", "t", "b", 0)) },
		"an act at index 4":    func(t *testing.T, f *fake) { f.tidemark(t, "group", "set", "g", "t:0=9", "--broker", "b", "--execute") },
		"removed": func(t *testing.T, f *fake) {
			f.tidemark(t, "group", "remove", "g", "--topic", "t", "--broker", "b", "--queue", "1", "--execute")
		},
		"an act at index 4, after index 3, may": func(t *testing.T, f *fake) {
			a := offset.Act{ID: newID(), Base: f.index, Cluster: fakeID, Remove: &offset.Remove{Scope: offset.Scope{Topic: "t", HasBroker: true, Broker: "c"}}}
			if _, _, err := f.Act(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		},
	}
	for why, change := range changes {
		for _, args := range []string{
			"group reset g --to-offset 1", "group reset g --from-group other", "group reset new --from-group g", "group set g t:0=1 --broker b", "group remove g", "group clone g new", "group clone other g --overwrite",
		} {
			f := newFake()
			f.fill(t, 5, []offset.Key{key("other", "t", "b", 0)})
			f.fill(t, 5, append(queues("g", "t", 2), key("g", "t", "c", 0), key("other", "t", "c", 0)))
			line := append(strings.Fields(args), "--expect-index", num(f.index))
			f.tidemark(t, line...).want(t, 0, "nothing was done yet", "")
			change(t, f)
			before := f.all()
			f.tidemark(t, append(line, "--execute")...).want(t, exitRefused, "", "without --execute")
			if f.all() != before {
				t.Errorf("%s, %s: refused, and yet something changed", why, args)
			}
			// What came before is as expected.
			line[len(line)-1] = num(f.index)
			f.tidemark(t, append(line, "--execute")...).want(t, 0, " at index ", "")
		}
	}
}

// TestUnknownOutcomeCanBeClearedUp: the same command with the index that the
// error names is refused where the first one was done, and does it where it was not.
func TestUnknownOutcomeCanBeClearedUp(t *testing.T) {
	for _, done := range []bool{true, false} {
		f := newFake()
		f.fill(t, 5, queues("g", "t", 2))
		unknown := offset.Errorf(offset.ErrOutcomeUnknown, "no answer in time")
		f.answer = func() error { f.answer = nil; return unknown }
		if !done {
			f.lose = true
		}
		index := f.index
		f.tidemark(t, "group", "reset", "g", "--shift-by", "-1", "--execute").want(t, exitFailed, "", fmt.Sprintf("--expect-index %d", index))
		want := exitOK
		if done {
			want = exitRefused
		}
		f.lose = false
		if r := f.tidemark(t, "group", "reset", "g", "--shift-by", "-1", "--execute", "--expect-index", num(index)); r.code != want {
			t.Errorf("done %v: the second run gives %+v", done, r)
		}
		if got := f.all(); got != "g/t/b/0=4\ng/t/b/1=4\n" {
			t.Errorf("done %v: shifted twice or never:\n%s", done, got)
		}
	}
}

// TestMoreThanOneActTakesIsRefused rather than done in parts.
func TestMoreThanOneActTakesIsRefused(t *testing.T) {
	f := newFake()
	for _, topic := range []string{"t", "u"} {
		f.fill(t, 5, queues("g", topic, offset.MaxCommits/2+1))
	}
	f.tidemark(t, "group", "reset", "g", "--to-offset", "1", "--execute").want(t, exitBadInput, "", "narrow them")
	f.tidemark(t, "group", "reset", "new", "--from-group", "g").want(t, exitBadInput, "", "narrow them")
	if len(f.acts) > 0 {
		t.Error("something was sent")
	}
	f.tidemark(t, "group", "reset", "g", "--to-offset", "1", "--topic", "t", "--execute").want(t, 0, "moved 5001 of 5001", "")
	f.tidemark(t, "group", "clone", "g", "new", "--execute").want(t, 0, "copied 10002 of 10002", "")
	f.tidemark(t, "group", "remove", "new").want(t, 0, "and 2 more", "")
}

// TestResetSelects takes each flag that narrows a reset.
func TestResetSelects(t *testing.T) {
	for args, want := range map[string]string{
		"":                                "a/b/0 a/b/1 a/c/0 d,e/b/0",
		"--topic=a":                       "a/b/0 a/b/1 a/c/0",
		"--topic=a --topic=d,e --queue=0": "a/b/0 a/c/0 d,e/b/0",
		"--broker=b":                      "a/b/0 a/b/1 d,e/b/0",
		"--queue=1 --queue=0 --broker=c":  "a/c/0",
	} {
		f := newFake()
		f.set(t, 5, key("g", "a", "b", 0), key("g", "a", "b", 1), key("g", "a", "c", 0), key("g", "d,e", "b", 0), key("gg", "a", "b", 0))
		f.tidemark(t, append([]string{"group", "reset", "g", "--to-offset", "0", "--execute"}, strings.Fields(args)...)...).want(t, 0, "moved", "")
		var got []string
		for _, line := range strings.Split(f.all(), "\n") {
			if rest, ok := strings.CutSuffix(line, "=0"); ok {
				got = append(got, strings.TrimPrefix(strings.ReplaceAll(rest, `"`, ""), "g/"))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q reset %q, want %q", args, got, want)
		}
	}
	for args, says := range map[string]string{
		"--to-offset=0 --queue=-1": "negative", "--to-offset=0 --topic=": "--topic is empty", "--from-group=g": "the group itself", "--to-offset=-1": "negative",
	} {
		newFake().tidemark(t, append([]string{"group", "reset", "g"}, strings.Fields(args)...)...).want(t, exitBadInput, "", says)
	}
}

func TestShiftsStayWithinOffsets(t *testing.T) {
	for _, c := range []struct{ from, by, want int64 }{
		{5, 3, 8}, {5, -5, 0}, {5, -6, 0}, {5, math.MinInt64, 0}, {5, math.MaxInt64, math.MaxInt64}, {math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64, -1, math.MaxInt64 - 1}, {0, math.MaxInt64, math.MaxInt64},
	} {
		st := offset.KeyedState{KeyState: offset.KeyState{Exists: true, Position: offset.Position{Offset: c.from}}}
		if got, note, err := shifted(c.by)(st); got != c.want || err != nil || (note != "") != (got-c.from != c.by) {
			t.Errorf("%d by %d gives %d, %q, %v; want %d", c.from, c.by, got, note, err, c.want)
		}
	}
}

// TestResetFromAFileOfEachForm: CSV names brokers, JSON does not.
func TestResetFromAFileOfEachForm(t *testing.T) {
	dir := t.TempDir()
	csv, broken := filepath.Join(dir, "o.csv"), filepath.Join(dir, "broken.json")
	write(t, csv, "group,topic,broker,queue,offset\ng,t,b1,0,4\ng,t,b2,0,5\nother,t,b1,0,6\n")
	write(t, broken, `{"offsetTable":{"t@g":{0:`)
	f := newFake()
	f.tidemark(t, "group", "reset", "g", "--from-file", csv, "--broker", "b2", "--execute").want(t, 0, "moved 1 of 1", "")
	f.tidemark(t, "group", "reset", "g", "--from-file", csv, "--execute").want(t, 0, "moved 2 of 2", "")
	if got := f.all(); got != "g/t/b1/0=4\ng/t/b2/0=5\n" {
		t.Errorf("there is %s", got)
	}
	kafka, store := filepath.Join(dir, "kafka.csv"), filepath.Join(dir, "store", "config")
	write(t, kafka, "t,0,14\nt,1,15\n") // kafka-consumer-groups.sh --export, of one group
	f.tidemark(t, "group", "reset", "g", "--from-file", kafka, "--execute").want(t, 0, "moved 2 of 2", "")
	if err := os.MkdirAll(store, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(store, "consumerOffset.json"), `{"offsetTable":{"t@g":{0:24},"t@other":{0:1}}}`)
	f.tidemark(t, "group", "reset", "g", "--from-file", filepath.Dir(store), "--broker", "b1", "--execute").want(t, 0, "moved 1 of 1", "")
	if got := f.all(); got != "g/t/0=14\ng/t/1=15\ng/t/b1/0=24\ng/t/b2/0=5\n" {
		t.Errorf("there is %s", got)
	}
	f.tidemark(t, "group", "reset", "g", "--from-file", broken).want(t, exitBadInput, "", "line 1")
	f.tidemark(t, "group", "reset", "g", "--from-file", filepath.Join(dir, "none")).want(t, exitBadInput, "", "no such file")
}
