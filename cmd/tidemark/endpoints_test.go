package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestEndpointsByPrecedence: a flag, then the environment, then the context in
// use, then this machine.
func TestEndpointsByPrecedence(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "contexts.json")
	f := newFake()
	f.saved = saved
	asked := func(args ...string) string {
		var out, errs bytes.Buffer
		var got []string
		code := run(t.Context(), append([]string{"group", "list"}, args...), streams{out: &out, err: &errs, saved: saved}, func(e []string) (cluster, error) {
			got = e
			return f, nil
		})
		if code != 0 {
			return errs.String()
		}
		return strings.Join(got, ",")
	}
	check := func(want string, args ...string) {
		t.Helper()
		if got := asked(args...); !strings.Contains(got, want) {
			t.Errorf("%q asks %q, want %q", args, got, want)
		}
	}
	check("127.0.0.1:7411")
	f.tidemark(t, "contexts", "add", "one", "one:1").want(t, 0, "one", "")
	f.tidemark(t, "contexts", "add", "two", "two:1,two:2").want(t, 0, "two", "")
	check("127.0.0.1:7411")
	f.tidemark(t, "contexts", "use", "one").want(t, 0, "in use", "")
	check("one:1")
	check("two:1,two:2", "--context", "two")
	t.Setenv("TIDEMARK_CONTEXT", "two")
	check("two:1,two:2")
	check("one:1", "--context", "one")
	t.Setenv("TIDEMARK_ENDPOINTS", "env:1,env:2")
	check("env:1,env:2")
	check("one:1", "--context", "one")
	check("flag:1", "--endpoints", "flag:1")
	check("leave one out", "--endpoints", "flag:1", "--context", "one")
	check(`no context is "none"`, "--context", "none")

	// A damaged file is in nobody's way who says what to ask.
	write(t, saved, "{")
	check("flag:1", "--endpoints", "flag:1")
	check("env:1,env:2")
	check("damaged", "--context", "one")
}

// TestTheVariableThatWins is named where a context becomes, or is shown as, the
// one in use.
func TestTheVariableThatWins(t *testing.T) {
	f := newFake()
	f.saved = filepath.Join(t.TempDir(), "contexts.json")
	f.tidemark(t, "contexts", "add", "one", "one:1", "--use").silent(t)
	f.tidemark(t, "contexts", "add", "two", "two:1").silent(t)
	t.Setenv("TIDEMARK_CONTEXT", "one")
	f.tidemark(t, "contexts", "show").silent(t)
	f.tidemark(t, "contexts", "use", "two").want(t, 0, "in use", "TIDEMARK_CONTEXT is set, to one, and wins")
	f.tidemark(t, "contexts", "show", "one").silent(t)
	t.Setenv("TIDEMARK_ENDPOINTS", "env:1")
	f.tidemark(t, "contexts", "show").want(t, 0, "in use", "TIDEMARK_ENDPOINTS is set, to env:1, and wins")
	f.tidemark(t, "contexts", "add", "three", "three:1", "--use").want(t, 0, "in use", "TIDEMARK_ENDPOINTS is set")
	f.tidemark(t, "contexts", "add", "four", "four:1").silent(t)
	f.tidemark(t, "contexts", "remove", "three").silent(t)
	f.tidemark(t, "contexts", "show").want(t, exitNotFound, "", "TIDEMARK_ENDPOINTS is set")
}

// TestContextsRefuseWhatIsNoAddress, before anything is saved.
func TestContextsRefuseWhatIsNoAddress(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "contexts.json")
	for _, address := range []string{"noport", "", "h:1,"} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"contexts", "add", "c", address}, streams{out: &out, err: &errs, saved: saved}, dial); code != exitBadInput || out.Len() > 0 {
			t.Errorf("%q gives %d, %q", address, code, &errs)
		}
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"contexts", "list", "-o", "json"}, streams{out: &out, err: &errs, saved: saved}, dial); code != 0 || !strings.Contains(out.String(), `"contexts": []`) {
		t.Errorf("listed %d, %q %q", code, &out, &errs)
	}
}
