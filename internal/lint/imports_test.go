package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tidemark-mq/tidemark"

// room is a part of the module and what it may depend on, directly or not.
// A name stands for the package and for all below it.
type room struct {
	name string
	may  []string
}

// rooms is who may enter where; the first that a package is in counts. What is
// under one of the names in everywhere may be entered by all.
var rooms = []room{
	{"offset", nil},
	{"offsetfile", []string{"offset"}},
	{"auth", []string{"offset", "internal/livefile"}},
	{"fsm/table", []string{"offset", "fsm/internal"}},
	{"fsm/entry", []string{"offset", "fsm/internal"}},
	{"fsm/internal", []string{"offset"}},
	{"fsm/dump", []string{"offset", "fsm", "node/store"}},
	{"fsm/rule", []string{"offset"}},
	{"fsm", []string{"offset", "fsm/table", "fsm/entry", "fsm/internal"}},
	{"transport/api", nil},
	{"transport/wire", []string{"transport/api", "offset", "auth", "internal/livefile"}},
	{"transport/frames", []string{"transport/api", "transport/wire", "offset", "auth", "internal/livefile"}},
	{"transport/conn", []string{"transport/api", "transport/wire", "transport/frames", "offset", "auth", "internal/livefile"}},
	{"transport/server", []string{"transport/api", "transport/wire", "transport/frames", "offset", "auth", "internal/livefile"}},
	{"transport/peer", []string{"transport/api", "transport/wire", "offset", "auth", "internal/livefile"}},
	{"transport/memnet", nil},
	{"node", []string{"fsm", "transport/peer", "transport/api", "transport/wire", "auth", "offset", "internal/livefile"}},
	{"client", []string{"transport/api", "transport/wire", "transport/frames", "transport/conn", "offset", "offsetfile", "auth", "internal/livefile"}},
	{"embedded", []string{"node", "fsm", "client", "transport", "auth", "offset", "offsetfile", "internal/livefile"}},
	{"rocketmq", []string{"offset", "offsetfile"}},
	{"internal/planted", nil},
	{"internal/livefile", nil},
	{"internal/fixture", nil},
	{"internal/ports", nil},
	{"internal/javaparts", []string{"internal/ports"}},
	{"internal/lint", nil},
}

// everywhere is what every room may enter: it is nothing, but in a build that
// makes mistakes on purpose.
var everywhere = []string{"internal/planted"}

// free are the rooms that may enter everywhere; nothing else may enter them.
var free = []string{"cmd", "cluster-test", "examples", "tidemarktest", "interop", "internal/model", "internal/incluster"}

// raft, bolt and prometheus are what applications that embed must not get.
const (
	raft       = "github.com/hashicorp/raft"
	bolt       = "go.etcd.io/bbolt"
	prometheus = "github.com/prometheus/client_golang"
)

// outside are packages that a room must not depend on: deep, not even through others.
var outside = []struct {
	room  string
	deep  bool
	never []string
}{
	{"fsm/table", false, []string{"time", "math/rand", "math/rand/v2", "crypto/rand", "net", "net/http", "os", "syscall", "os/exec"}},
	{"fsm/entry", false, []string{"time", "math/rand", "math/rand/v2", "crypto/rand", "net", "net/http", "os", "syscall", "os/exec"}},
	{"fsm/table", true, []string{raft, bolt}},
	{"fsm/entry", true, []string{raft, bolt}},
	{"offset", false, []string{"os", "net", "math/rand", "math/rand/v2", "crypto/rand"}},
	{"client", true, []string{raft, bolt, prometheus}},
	{"offsetfile", true, []string{raft, bolt, prometheus, "net/http"}},
	{"auth", true, []string{raft, bolt, prometheus, "net/http"}},
	{"transport", true, []string{raft, bolt, prometheus}},
	{"node", true, []string{prometheus}},
	{"fsm", true, []string{prometheus}},
}

// oracle is what the table is compared with: were it to go into what it judges, the
// two would be wrong together.
const oracle = module + "/fsm/rule"

// knowsRaft are the rooms that may import raft's packages; the CLI for its dump, the proofs to look into logs.
var knowsRaft = []string{"fsm", "node", "cmd/tidemark", "cluster-test"}

// pkg is a package as "go list" tells of it.
type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Standard   bool
	Error      *struct{ Err string }
}

// under tells whether a package is a room or below it.
func under(path, room string) bool {
	return path == module+"/"+room || strings.HasPrefix(path, module+"/"+room+"/")
}

func underAny(path string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(r string) bool { return under(path, r) })
}

func packages(t *testing.T) (list []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Imports,Deps,Standard,Error", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	d := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.ImportPath, module+"/") {
			list = append(list, p)
		}
	}
}

func TestImports(t *testing.T) {
	list := packages(t)
	if len(list) < 10 {
		t.Fatalf("only %d packages found", len(list))
	}
	for _, p := range list {
		for _, fault := range faults(p) {
			t.Errorf("%s %s", strings.TrimPrefix(p.ImportPath, module+"/"), fault)
		}
	}
}

// faults lists the rules that a package breaks.
func faults(p pkg) (list []string) {
	list = insideFaults(p)
	for _, o := range outside {
		if !under(p.ImportPath, o.room) {
			continue
		}
		deps := p.Imports
		if o.deep {
			deps = p.Deps
		}
		for _, d := range deps {
			if slices.ContainsFunc(o.never, func(n string) bool { return d == n || strings.HasPrefix(d, n+"/") && strings.Contains(n, ".") }) {
				list = append(list, "must not depend on "+d)
			}
		}
	}
	for _, d := range p.Imports {
		if strings.HasPrefix(d, raft) && !underAny(p.ImportPath, knowsRaft) {
			list = append(list, "imports "+d+"; only "+strings.Join(knowsRaft, ", ")+" know raft")
		}
		if d == oracle && !under(p.ImportPath, "cluster-test") {
			list = append(list, "imports "+d+"; only tests do")
		}
		if strings.HasPrefix(d, prometheus) && !under(p.ImportPath, "cmd") {
			list = append(list, "imports "+d+"; only cmd does")
		}
	}
	return list
}

// insideFaults lists the rooms that a package must not enter, through others either.
func insideFaults(p pkg) (list []string) {
	if underAny(p.ImportPath, free) {
		return nil
	}
	i := slices.IndexFunc(rooms, func(r room) bool { return under(p.ImportPath, r.name) })
	if i < 0 {
		return []string{"is in no room that the rules know"}
	}
	for _, d := range p.Deps {
		if strings.HasPrefix(d, module+"/") && !under(d, rooms[i].name) && !underAny(d, rooms[i].may) && !underAny(d, everywhere) {
			list = append(list, "must not depend on "+strings.TrimPrefix(d, module+"/"))
		}
	}
	return list
}

// TestRulesBite shows that each kind of rule finds its fault.
func TestRulesBite(t *testing.T) {
	for _, c := range []struct {
		p    pkg
		want string
	}{
		{pkg{ImportPath: module + "/client", Deps: []string{module + "/node"}}, "must not depend on node"},
		{pkg{ImportPath: module + "/client", Deps: []string{raft}}, "must not depend on " + raft},
		{pkg{ImportPath: module + "/node/store", Deps: []string{module + "/transport/server"}}, "must not depend on transport/server"},
		{pkg{ImportPath: module + "/fsm/table", Imports: []string{"time"}}, "must not depend on time"},
		{pkg{ImportPath: module + "/transport/server", Imports: []string{raft}}, "imports " + raft + "; only fsm, node, cmd/tidemark, cluster-test know raft"},
		{pkg{ImportPath: module + "/fsm", Imports: []string{oracle}}, "imports " + oracle + "; only tests do"},
		{pkg{ImportPath: module + "/cmd/tidemark", Imports: []string{oracle}}, "imports " + oracle + "; only tests do"},
		{pkg{ImportPath: module + "/node", Imports: []string{prometheus + "/prometheus"}}, "imports " + prometheus + "/prometheus; only cmd does"},
		{pkg{ImportPath: module + "/manager"}, "is in no room that the rules know"},
		{pkg{ImportPath: module + "/offset", Deps: []string{module + "/cmd/node"}}, "must not depend on cmd/node"},
	} {
		if got := faults(c.p); !slices.Contains(got, c.want) {
			t.Errorf("%s: faults %q lack %q", c.p.ImportPath, got, c.want)
		}
	}
	if got := faults(pkg{ImportPath: module + "/fsm/table", Imports: []string{module + "/offset"}, Deps: []string{"time", module + "/offset"}}); got != nil {
		t.Errorf("what is allowed gives %q", got)
	}
}
