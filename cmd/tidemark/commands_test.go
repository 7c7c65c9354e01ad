package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestC54EveryNameReachesItsOwnRecord takes names that routes, escapes and
// shells are prone to mistake through each command.
func TestC54EveryNameReachesItsOwnRecord(t *testing.T) {
	names := []string{"a/b/c", "%RETRY%billing", "%2Fx", "inst%DEgroup", "q?x=1#y", "sp ace", "..", "组一", "a+b", "a", "/x", "-dash"}
	f := newFake()
	for i, g := range names {
		f.tidemark(t, "commit", "--execute", "--", g, "t", "0", fmt.Sprint(i+1)).want(t, 0, "-> "+fmt.Sprint(i+1), "")
	}
	for i, g := range names {
		f.tidemark(t, "get", "-o", "json", "--", g).want(t, 0, fmt.Sprintf(`"offset": "%d"`, i+1), "")
		f.tidemark(t, "group", "describe", "--", g).want(t, 0, "1 queue of 1 topic", "")
	}
	var list groupsResult
	r := f.tidemark(t, "group", "list", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || len(list.Groups) != len(names) {
		t.Fatalf("groups are %s, %v", r.out, err)
	}
	for i, g := range names {
		f.tidemark(t, "group", "remove", "--execute", "--", g).want(t, 0, "removed 1 offset", "")
		if left := len(names) - i - 1; strings.Count(f.all(), "\n") != left {
			t.Fatalf("after removing %q there is\n%s", g, f.all())
		}
	}
}

// TestBytesThatAreNoTextNameNothing: the parser of the command line would put
// U+FFFD in their place, which is a name of its own.
func TestBytesThatAreNoTextNameNothing(t *testing.T) {
	f := newFake()
	f.set(t, 1, key("g\ufffd", "t", "", 0))
	f.tidemark(t, "get", "g\ufffd").want(t, 0, "t ", "")
	f.tidemark(t, "get", "g\xff").want(t, exitBadInput, "", `"g\xff" is not valid UTF-8`)
	f.tidemark(t, "group", "remove", "--execute", "--", "g\xff").want(t, exitBadInput, "", "UTF-8")
	if f.all() == "" {
		t.Error("another group was removed")
	}
}

func TestNamesCannotForgeLines(t *testing.T) {
	r := newFake().tidemark(t, "group", "describe", "g\nall is well")
	r.want(t, exitBadInput, "", "control character")
	if strings.Count(r.err, "\n") != 1 {
		t.Errorf("the error has several lines: %q", r.err)
	}
	for name, want := range map[string]string{"plain": "plain", "": "-", "a\u202eb": `"a\u202eb"`, " a": `" a"`, "组一": "组一"} {
		if got := shown(name); got != want {
			t.Errorf("shown(%q) is %s, want %s", name, got, want)
		}
	}
}

func TestCommitShowsThenDoes(t *testing.T) {
	f := newFake()
	f.tidemark(t, "commit", "g", "t", "3", "100").want(t, 0, "g/t/3: no offset -> 100; nothing was done yet, add --execute", "")
	if f.all() != "" {
		t.Fatal("showing changed something")
	}
	f.tidemark(t, "commit", "g", "t", "3", "100", "--execute").want(t, 0, "g/t/3: no offset -> 100\n", "")
	f.tidemark(t, "commit", "g", "t", "3", "90", "--execute").want(t, 0, "g/t/3 stays at 100: a commit never lowers", "")
	f.tidemark(t, "commit", "g", "t", "3", "101", "--execute", "-o", "json").want(t, 0, `"before": "100"`, "")
	f.tidemark(t, "commit", "g", "t", "3", "7", "--broker", "b", "--execute").want(t, 0, "g/t/b/3: no offset -> 7", "")
	if got := f.all(); got != "g/t/3=101\ng/t/b/3=7\n" {
		t.Errorf("there is %s", got)
	}
}

// TestCommitTellsNoMoreThanItsAnswer: a field that is not known is not there,
// rather than zero.
func TestCommitTellsNoMoreThanItsAnswer(t *testing.T) {
	f := newFake()
	k := key("g", "t", "", 3)
	f.set(t, 100, k)
	f.tidemark(t, "group", "remove", "g", "--execute").want(t, 0, "removed 1", "")
	epoch := f.table.Root().Get(k).Epoch
	for _, step := range []struct {
		args []string
		key  map[string]any
	}{
		{nil, map[string]any{}},
		{[]string{"--execute"}, map[string]any{"offset": "7"}},
		{nil, map[string]any{"offset": "7"}},
	} {
		var got struct{ Key map[string]any }
		r := f.tidemark(t, append([]string{"commit", "g", "t", "3", "7", "-o", "json"}, step.args...)...).want(t, 0, "{", "")
		if err := json.Unmarshal([]byte(r.out), &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"group": "g", "topic": "t", "broker": "", "queue": 3.0, "epoch": fmt.Sprint(epoch)}
		maps.Copy(want, step.key)
		if epoch == 0 || !maps.Equal(got.Key, want) {
			t.Errorf("commit %q gives the key %v, want %v", step.args, got.Key, want)
		}
	}
}

// TestNegativeNumbersAreBadInput: the parser takes them for flags, and what is
// wrong is the number.
func TestNegativeNumbersAreBadInput(t *testing.T) {
	f := newFake()
	for _, args := range [][]string{{"g", "t", "0", "-1"}, {"g", "t", "0", "-10", "--execute"}, {"g", "t", "-3", "10"}, {"--", "g", "t", "0", "-1"}} {
		f.tidemark(t, append([]string{"commit"}, args...)...).want(t, exitBadInput, "", "negative")
	}
	f.tidemark(t, "commit", "g", "t", "0", "-1").want(t, exitBadInput, "", "-1 is negative; queues and offsets are 0 or more")
	f.tidemark(t, "get", "-5").want(t, exitBadInput, "", "goes after --")
	f.tidemark(t, "get", "-5x").want(t, exitUsage, "", "unknown flag -5")
	f.tidemark(t, "commit", "g", "t", "-1", "0", "--nonsense").want(t, exitBadInput, "", "-1 is negative")
	f.tidemark(t, "commit", "g", "-x", "--", "0", "-1").want(t, exitUsage, "", "unknown flag -x")
	if len(f.acts) > 0 || f.all() != "" {
		t.Errorf("there is %s", f.all())
	}
}

// TestARunningNodesFolderIsRefused as the guard that it is.
func TestARunningNodesFolderIsRefused(t *testing.T) {
	if code := codeOf(fmt.Errorf("reading: %w", &store.LockedError{Dir: "d"})); code != exitRefused {
		t.Errorf("the code is %d", code)
	}
}

func TestGetSelects(t *testing.T) {
	f := newFake()
	f.set(t, 1, key("g", "t", "", 0), key("g", "t", "b", 0), key("g", "t", "b", 1), key("g", "u", "b", 0))
	for want, args := range map[int][]string{4: {"g"}, 3: {"g", "t"}, 2: {"g", "t", "0"}, 1: {"g", "t", "0", "--broker", ""}} {
		var r keysResult
		out := f.tidemark(t, append([]string{"get", "-o", "json"}, args...)...)
		if err := json.Unmarshal([]byte(out.out), &r); err != nil || len(r.Keys) != want {
			t.Errorf("get %q gives %d keys, want %d: %s %v", args, len(r.Keys), want, out.out, err)
		}
	}
	f.tidemark(t, "get", "g", "t", "7").want(t, exitNotFound, "", "no offset")
	f.tidemark(t, "get", "nobody", "-o", "json").want(t, exitNotFound, "", "no offset")
	f.tidemark(t, "get", "g", "t", "x").want(t, exitBadInput, "", "whole number")
	f.tidemark(t, "get", "g", "--level", "wrong").want(t, exitUsage, "", "--level")
}

func TestGroupListPages(t *testing.T) {
	f := newFake()
	for i := range 25 {
		f.set(t, 1, key(fmt.Sprintf("g%02d", i), fmt.Sprintf("t%d", i%2), "", 0))
	}
	if r := f.tidemark(t, "group", "list"); strings.Count(r.out, "\n") != 25 {
		t.Errorf("listed %q", r.out)
	}
	f.tidemark(t, "group", "list", "--limit", "3").want(t, 0, "g00\ng01\ng02\n", "there are more")
	if r := f.tidemark(t, "group", "list", "--prefix", "g1", "--topic", "t1").want(t, 0, "g11", ""); r.out != "g11\ng13\ng15\ng17\ng19\n" {
		t.Errorf("listed %q", r.out)
	}
	f.tidemark(t, "group", "list", "--limit=-1").want(t, exitBadInput, "", "negative")
	f.tidemark(t, "group", "list", "--prefix", "a", "--namespace", "b").want(t, exitUsage, "", "can't be used together")
	newFake().tidemark(t, "group", "list", "-o", "json").want(t, 0, `"groups": []`, "")
}

func TestGroupRemoveScopes(t *testing.T) {
	f := newFake()
	f.set(t, 1, key("g", "t", "", 0), key("g", "t", "b", 0), key("g", "t", "b", 1), key("g", "u", "b", 0), key("gg", "t", "b", 0))
	f.tidemark(t, "group", "remove", "g", "--topic", "t", "--broker", "b", "--queue", "1").want(t, 0, "1 offset of group g would be removed", "")
	f.tidemark(t, "group", "remove", "g", "--topic", "t", "--broker", "b", "--queue", "1", "--execute").want(t, 0, "removed 1 offset", "")
	f.tidemark(t, "group", "remove", "g", "--topic", "t", "--broker", "", "--execute").want(t, 0, "removed 1 offset", "")
	f.tidemark(t, "group", "remove", "g", "--topic", "t", "--execute").want(t, 0, "removed 1 offset", "")
	f.tidemark(t, "group", "remove", "g", "--queue", "1", "--execute").want(t, exitBadInput, "", "needs its group, topic and broker")
	f.tidemark(t, "group", "remove", "", "--topic", "t", "--execute").want(t, exitBadInput, "", "group is empty")
	f.tidemark(t, "group", "remove", "g", "--execute").want(t, 0, "removed 1 offset", "")
	f.tidemark(t, "group", "remove", "g", "--execute").want(t, exitNotFound, "", "no offsets")
	if got := f.all(); got != "gg/t/b/0=1\n" {
		t.Errorf("there is %s", got)
	}
	for _, a := range f.acts {
		if a.ID.IsZero() || a.Base == 0 || a.Cluster != fakeID {
			t.Errorf("act lacks id, base or cluster: %+v", a)
		}
	}
}

// TestC53EveryErrorHasItsCode takes each cause through the program.
func TestC53EveryErrorHasItsCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		next string
	}{
		{offset.ErrInvalid, exitBadInput, "invalid request"},
		{offset.ErrDenied, exitRefused, "right"},
		{offset.ErrNotLeader, exitNoLeader, "try again"},
		{offset.ErrNotReady, exitUnhealthy, "/readyz"},
		{offset.ErrBusy, exitFailed, "try again"},
		{offset.ErrNoLeader, exitNoLeader, "cluster status"},
		{offset.ErrFenced, exitRefused, "look at it again"},
		{offset.ErrSuperseded, exitRefused, "look at them again"},
		{offset.ErrTooOld, exitRefused, "run it again"},
		{offset.ErrNotFound, exitNotFound, "group list"},
		{offset.ErrOutcomeUnknown, exitFailed, "may have been done or not"},
		{offset.ErrForeignCluster, exitRefused, "--endpoints"},
		{offset.ErrImportBusy, exitRefused, "--abort"},
		{offset.ErrNoImport, exitNotFound, "cluster status"},
		{offset.ErrLimit, exitRefused, "remove"},
		{offset.ErrUnreachable, exitUnreachable, "--endpoints"},
		{context.Canceled, exitFailed, "signal"},
		{context.DeadlineExceeded, exitUnreachable, "--timeout"},
		{errors.New("two\nlines"), exitFailed, "two lines"},
	} {
		f := newFake()
		f.down = &client.Error{Op: "list", Attempts: 2, Err: c.err}
		for _, args := range [][]string{{"get", "g"}, {"group", "list", "-o", "json"}, {"cluster", "status", "-o", "yaml"}, {"export"}} {
			r := f.tidemark(t, args...).want(t, c.code, "", c.next)
			if !strings.HasPrefix(r.err, "tidemark: ") || strings.Count(r.err, "\n") != 1 {
				t.Errorf("%v: standard error is %q, want one line", c.err, r.err)
			}
		}
	}
}

// What names the command to run next is not followed by another advice.
func TestOneAdviceIsEnough(t *testing.T) {
	own := offset.Errorf(offset.ErrNotFound, "no member is \"n9\"; `tidemark cluster status` lists them")
	if got := oneLine(own); got != own.Error() {
		t.Errorf("got %q", got)
	}
	if got := oneLine(offset.Errorf(offset.ErrNotFound, "no group is \"g\"")); !strings.HasSuffix(got, ` (see "tidemark group list" for what there is)`) {
		t.Errorf("got %q", got)
	}
}

func TestC53Usage(t *testing.T) {
	f := newFake()
	for _, args := range [][]string{
		{}, {"nonsense"}, {"get"}, {"commit", "g"}, {"group"}, {"group", "remove"}, {"group", "describe"}, {"cluster"}, {"cluster", "add", "x"},
		{"cluster", "promote"}, {"dump"}, {"dump", "log"}, {"get", "g", "--nonsense"}, {"get", "g", "-o", "xml"}, {"get", "g", "--timeout", "0s"}, {"get", "g", "--timeout", "x"},
		{"export", "--format", "csv", "--base", "x"},
	} {
		f.tidemark(t, args...).want(t, exitUsage, "", "tidemark: ")
	}
	f.tidemark(t, "--help").want(t, 0, "Usage: tidemark", "")
	f.tidemark(t, "import", "--help").want(t, 0, "--allow-removal", "")
	var out, errs bytes.Buffer
	bad := func([]string) (cluster, error) { return nil, offset.Errorf(offset.ErrInvalid, "no port in %q", "x") }
	if code := run(t.Context(), []string{"get", "g", "--endpoints", "x"}, streams{out: &out, err: &errs}, bad); code != exitBadInput || !strings.Contains(errs.String(), "--endpoints") {
		t.Errorf("a bad endpoint gives %d, %q", code, &errs)
	}
}

// closedPipe is a standard output that nobody reads any more.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "stdout", Err: syscall.EPIPE}
}

// TestDoneWithoutOutput: where the result of a change can't be written, the error
// says that it is done.
func TestDoneWithoutOutput(t *testing.T) {
	for _, args := range [][]string{{"group", "set", "g", "t:0=1"}, {"commit", "g", "t", "0", "5"}} {
		for _, execute := range []bool{false, true} {
			if execute {
				args = append(args, "--execute")
			}
			f := newFake()
			var errs bytes.Buffer
			code := run(t.Context(), args, streams{out: closedPipe{}, err: &errs}, func([]string) (cluster, error) { return f, nil })
			if code != exitFailed || strings.Contains(errs.String(), "it is done") != execute || (f.all() != "") != execute {
				t.Errorf("%q: exit code %d, %q, and there is %q", args, code, &errs, f.all())
			}
		}
	}
}

func TestOutputForms(t *testing.T) {
	f := newFake()
	f.set(t, 9223372036854775807, key("g", "t", "b", 0))
	var j, y groupResult
	if err := json.Unmarshal([]byte(f.tidemark(t, "group", "describe", "g", "-o", "json").out), &j); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(f.tidemark(t, "group", "describe", "g", "-o", "yaml").out), &y); err != nil {
		t.Fatal(err)
	}
	if len(j.Keys) != 1 || j.Keys[0] != y.Keys[0] || j.Keys[0].Offset != 9223372036854775807 || j.Keys[0].Changed == "" {
		t.Errorf("json gives %+v, yaml %+v", j, y)
	}
	f.tidemark(t, "version", "-o", "json").want(t, 0, `"formatLevel": 1`, "")
	f.tidemark(t, "version").want(t, 0, "format level 1", "")
}

func TestExportFailsWhole(t *testing.T) {
	f := newFake()
	f.set(t, 1, key("g", "t", "", 0))
	path := filepath.Join(t.TempDir(), "out.json")
	write(t, path, "old")
	f.down = offset.Errorf(offset.ErrUnreachable, "gone")
	f.tidemark(t, "export", path).want(t, exitUnreachable, "", "gone")
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("the file is %q, %v", b, err)
	}
	f.down = nil
	f.tidemark(t, "export", path, "--base", filepath.Join(t.TempDir(), "none")).want(t, exitBadInput, "", "base file")
	f.tidemark(t, "export", path, "-o", "json").want(t, 0, `"offsets": "1"`, "")
	f.tidemark(t, "export", filepath.Join(t.TempDir(), "no", "folder")).want(t, exitBadInput, "", "no such file")
	newFake().tidemark(t, "export").want(t, 0, `"offsetTable":{`, "0 offsets")
}
