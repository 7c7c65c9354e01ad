package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/internal/planted"
)

// check is a general one: tests of one package that know of no mistake.
type check struct {
	name string
	// folder is that of the package, tests chooses from it.
	folder, tests string
	// times is how often they are run, where it is drawn what they meet; 0: once.
	times int
	// daemons: it runs real processes.
	daemons bool
	// limit bounds one run. A check that has not ended by then has found nothing.
	limit time.Duration
}

// checks are in the order in which they are tried: the quick ones first.
var checks = []check{
	{name: "model", folder: "internal/model", tests: "^TestTableFollowsTheModel$", limit: time.Minute},
	{name: "rule", folder: "fsm/table", tests: "^TestHistories$", limit: time.Minute},
	{name: "replay", folder: "fsm", tests: "^(TestReplayEqualsLive|TestSnapshotAndTailEqualFullReplay|TestPersistBesideApply)$", limit: 2 * time.Minute},
	{name: "kill", folder: "node/store", tests: "^TestKilledAnywhere$", times: 4, limit: time.Minute},
	{name: "stores", folder: "client", tests: "^(TestStoresUnderFaults|TestConcurrentUse)$", times: 8, limit: 2 * time.Minute},
	{name: "suite", folder: "tidemarktest", tests: "^TestRemoteStoreIsAnOffsetStore$", limit: 2 * time.Minute},
	{name: "divergences", folder: "cluster-test/mutants", tests: "^TestDivergences$", limit: 4 * time.Minute},
	{name: "installs", folder: "cluster-test/mutants", tests: "^TestInstalls$", limit: 4 * time.Minute},
	{name: "load", folder: "cluster-test/mutants", tests: "^TestLoad$", daemons: true, limit: 2 * time.Minute},
	{name: "trace", folder: "cluster-test/mutants", tests: "^TestTrace$", daemons: true, limit: 3 * time.Minute},
	{name: "story", folder: "cluster-test/mutants", tests: "^TestStory$", daemons: true, limit: 3 * time.Minute},
	{name: "deaths", folder: "cluster-test/mutants", tests: "^TestDeaths$", limit: 4 * time.Minute},
	{name: "elections", folder: "cluster-test/mutants", tests: "^TestElections$", limit: 4 * time.Minute},
	{name: "history", folder: "cluster-test/mutants", tests: "^TestHistory$", limit: 4 * time.Minute},
}

// named chooses checks; all without names.
func named(list []string) (todo []check, err error) {
	if len(list) == 0 {
		return checks, nil
	}
	for _, c := range checks {
		for _, n := range list {
			if c.name == n {
				todo = append(todo, c)
			}
		}
	}
	if len(todo) != len(list) {
		return nil, fmt.Errorf("no such check among %v; there are: %v", list, names(checks))
	}
	return todo, nil
}

func names(list []check) (out []string) {
	for _, c := range list {
		out = append(out, c.name)
	}
	return out
}

// sighting is what became of one mistake.
type sighting struct {
	mistake planted.Mistake
	// by is the check that found it; empty: none did.
	by    string
	after time.Duration
	words string
}

// String is its line of the table.
func (s sighting) String() string {
	by := s.by
	if by == "" {
		by = "NOTHING"
	}
	return fmt.Sprintf("%-28s %-10s %7.1fs  %s", s.mistake, by, s.after.Seconds(), s.words)
}

// look runs checks with a mistake until one finds it. What a check says that
// comes to no verdict is an error: it has found nothing.
func (b *built) look(ctx context.Context, todo []check, m planted.Mistake) (s sighting, err error) {
	began := time.Now()
	s.mistake = m
	for _, c := range todo {
		said, found, e := b.run(ctx, c, m)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", c.name, e))
		}
		if found {
			s.by, s.words = c.name, words(said)
			break
		}
	}
	s.after = time.Since(began)
	return s, err
}

// run runs one check and tells whether it fails. The error says why it came to
// no verdict. All that it started has ended when run returns.
func (b *built) run(ctx context.Context, c check, m planted.Mistake) (said []byte, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	tmp, err := os.MkdirTemp(b.dir, c.name+"-")
	if err != nil {
		return nil, false, err
	}
	cmd := exec.Command(b.tests[c.folder], "-test.run", c.tests, "-test.v", "-test.failfast", "-test.timeout", "0",
		"-test.count", strconv.Itoa(max(c.times, 1)))
	cmd.Dir = filepath.Join(b.root, c.folder)
	cmd.Env = append(os.Environ(), programs+"="+b.programs, "TMPDIR="+tmp)
	if m == planted.None {
		cmd.Env = append(cmd.Env, planted.Variable+"=", histories+"="+os.TempDir())
	} else {
		cmd.Env = append(cmd.Env, planted.Variable+"="+m.String(), histories+"=")
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ended := group(ctx, cmd)
	err = errors.Join(err, takeDown(b.root, tmp), os.RemoveAll(tmp))
	switch {
	case ctx.Err() != nil:
		err = errors.Join(err, fmt.Errorf("no verdict within %v: %w", c.limit, context.Cause(ctx)))
	case bytes.Contains(out.Bytes(), []byte("--- FAIL")), crashed.Match(out.Bytes()):
		found = true
	case ended != nil:
		err = errors.Join(err, ended)
	case !bytes.Contains(out.Bytes(), []byte("--- PASS")):
		err = errors.Join(err, errors.New("no test has run"))
	}
	return out.Bytes(), found, err
}

// crashed is what a process says that the product has brought down.
var crashed = regexp.MustCompile(`(?m)^(?:fatal error|panic): `)

// telling are the lines that say what a check has found.
var telling = regexp.MustCompile(`^\w+\.go:\d+: (.*)|^(?:fatal error|panic): .*`)

// words is the first thing that a failed check says of what it found.
func words(said []byte) string {
	for line := range strings.Lines(string(said)) {
		m := telling.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || strings.HasPrefix(m[1], "seed ") || strings.HasPrefix(m[1], "network seed ") {
			continue
		}
		text := strings.Join(strings.Fields(cmp.Or(m[1], m[0])), " ")
		return text[:min(len(text), 160)]
	}
	return "a test failed"
}
