package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// printed runs --print-config and gives what it prints.
func printed(t *testing.T, env map[string]string, args ...string) (text string, values map[string]any) {
	t.Helper()
	r := try(t, env, append(args, "--print-config")...)
	if r.code != exitOK || r.errs != "" {
		t.Fatalf("%q: exit %d, %s", args, r.code, r.errs)
	}
	if err := yaml.Unmarshal([]byte(r.out), &values); err != nil {
		t.Fatalf("%q printed no YAML: %v\n%s", args, err, r.out)
	}
	return r.out, values
}

// The flag wins over the environment, which wins over the file, which wins
// over the default.
func TestPrecedence(t *testing.T) {
	file := writeFile(t, "name: from-file\nlimit-groups: 7\ntimers: slow-disk\nlog-level: warn\n")
	env := map[string]string{"TIDEMARK_NAME": "from-env", "TIDEMARK_LOG_LEVEL": "error", "TIDEMARK_CONFIG": file}
	_, got := printed(t, env, "--dev", "--log-level", "debug")
	for key, want := range map[string]any{
		"log-level":    "debug",     // flag over all
		"name":         "from-env",  // environment over file
		"timers":       "slow-disk", // file over default
		"limit-groups": 7,
		"limit-queues": 20000000, // default
	} {
		if got[key] != want {
			t.Errorf("%s is %v (%T), want %v", key, got[key], got[key], want)
		}
	}
}

// What --print-config prints gives the same when it is read, for each option
// set to something else than its default.
func TestPrintConfigCanBeFedBack(t *testing.T) {
	dir := t.TempDir()
	args := []string{
		"--name", "n1", "--data", dir, "--listen", "0.0.0.0:9411", "--advertise", "h1.example:9411",
		"--peer-listen", "[::]:9412", "--ops-listen", "127.0.0.1:9413", "--pprof",
		"--initial-cluster", "n1=h1.example:9412,n2=h2.example:9412", "--log-store", "wal", "--timers", "slow-disk",
		"--call-timeout", "1500ms", "--stop-timeout", "1m", "--limit-connections", "1", "--limit-per-address", "2",
		"--limit-calls", "3", "--limit-calls-stream", "4", "--limit-call-bytes", "17MiB", "--limit-exports", "5",
		"--limit-waiting", "6", "--limit-reads", "7", "--limit-groups", "8", "--limit-queues", "9",
		"--limit-prefix", "team-a%=10", "--limit-prefix", "b=11", "--snapshot-log-bytes", "1GiB", "--snapshot-trail-bytes", "65537",
		"--log-level", "trace", "--log-format", "json", "--insecure",
		"--tls-cert", "/etc/n1.crt", "--tls-key", "/etc/n1.key", "--tls-client-ca", "/etc/ca.crt", "--tokens", "/etc/tokens",
		"--policy", "/etc/policy.yaml", "--peer-tls-ca", "/etc/peers.crt", "--peer-tls-cert", "/etc/p1.crt",
		"--peer-tls-key", "/etc/p1.key", "--peer-tls-role", "tidemark:x/member",
	}
	for _, args := range [][]string{args, {"--dev"}, {"--dev", "--data", dir, "--name", "x", "--listen", "127.0.0.1:1"}} {
		first, values := printed(t, nil, args...)
		if len(values) != len(optionNames()) {
			t.Errorf("%d options of %d are printed", len(values), len(optionNames()))
		}
		second, _ := printed(t, nil, "--config", writeFile(t, first))
		if first != second {
			t.Errorf("%q: printed\n%s\nand, fed back,\n%s", args, first, second)
		}
	}
	_, values := printed(t, nil, args...)
	for name, value := range values {
		if def := defaultsOf(t)[name]; reflect.DeepEqual(value, def) && name != "dev" {
			t.Errorf("%s is not tried: %v is its default", name, value)
		}
	}
	if want := []any{"team-a%=10", "b=11"}; !reflect.DeepEqual(values["limit-prefix"], want) || values["peer-advertise"] != "h1.example:9412" {
		t.Errorf("limit-prefix is %v, peer-advertise %v", values["limit-prefix"], values["peer-advertise"])
	}
}

// defaultsOf gives the options as kong fills them.
func defaultsOf(t *testing.T) map[string]any {
	t.Helper()
	setEnv(t, nil)
	p, err := parse(nil, os.Stdout, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, flag := range p.flags {
		var v any
		text, _ := yaml.Marshal(plain(flag.Target.Interface()))
		_ = yaml.Unmarshal(text, &v)
		out[flag.Name] = v
	}
	return out
}

func optionNames() (names []string) {
	p, _ := parse(nil, os.Stdout, os.Stderr)
	for _, flag := range p.flags {
		if !isMeta(flag) {
			names = append(names, flag.Name)
		}
	}
	return names
}

func TestFileFormsOfFounders(t *testing.T) {
	for name, text := range map[string]string{
		"text":    "initial-cluster: n1=127.0.0.1:1,n2=127.0.0.1:2\n",
		"list":    "initial-cluster:\n- n1=127.0.0.1:1\n- n2=127.0.0.1:2\n",
		"mapping": "initial-cluster:\n  n1: 127.0.0.1:1\n  n2: 127.0.0.1:2\n",
	} {
		_, got := printed(t, nil, "--dev", "--name", "n1", "--peer-listen", "127.0.0.1:1", "--config", writeFile(t, text))
		if got["initial-cluster"] != "n1=127.0.0.1:1,n2=127.0.0.1:2" {
			t.Errorf("%s: %v", name, got["initial-cluster"])
		}
	}
}

// What is wrong in the file is named by file and line.
func TestFaultyFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "name: n1\npeer-listn: x\n", `:2: there is no option peer-listn; is peer-listen meant?`},
		{"key of nothing", "zzz: 1\n", `:1: there is no option zzz`},
		{"key with a newline", "\"a\\nb\": 1\n", `:1: there is no option "a\nb"`},
		{"meta option", "config: other.yaml\n", `:1: there is no option config`},
		{"twice", "name: a\ntimers: lan\nname: b\n", `:3: name occurs twice`},
		{"two documents", "name: a\n---\ntimers: lan\n", `: a second document begins`},
		{"not a number", "name: n1\n\nlimit-groups: many\n", `:3: limit-groups: `},
		{"negative", "limit-groups: -1\n", `:1: limit-groups: `},
		{"not a duration", "call-timeout: 5\n", `:1: call-timeout: `},
		{"not bytes", "limit-call-bytes: 1.5GiB\n", `:1: limit-call-bytes: "1.5GiB" is no number of bytes`},
		{"not in the list", "timers: fast\n", `:1: timers: "fast" is not one of lan, slow-disk`},
		{"null", "name:\n", `:1: name: there is no value`},
		{"nested", "name: [[a]]\n", `:1: name: line 1: plain values`},
		{"a list", "- name\n", `:1: a list of option: value is needed`},
		{"no YAML", "name: [\n", `is not YAML`},
		{"alias", "name: &a n1\ndata: *a\n", `:2: data: this form of value is not taken`},
	} {
		path := writeFile(t, c.text)
		r := try(t, nil, "--config", path)
		if r.code != exitWrong || !strings.Contains(r.errs, filepath.Base(path)) || !strings.Contains(r.errs, c.want) || strings.Count(r.errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %s", c.name, r.code, r.errs)
		}
	}
	r := try(t, nil, "--config=/nowhere/x.yaml")
	if r.code != exitWrong || !strings.Contains(r.errs, "--config") || !strings.Contains(r.errs, "/nowhere/x.yaml") {
		t.Errorf("missing file: exit %d, %s", r.code, r.errs)
	}
	if _, got := printed(t, nil, "--dev", "--config", writeFile(t, "# nothing\n")); got["name"] != "dev" {
		t.Errorf("an empty file gives the name %v", got["name"])
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		out  string
		errs string
	}{
		{[]string{"--no-such"}, exitUsage, "", "unknown flag --no-such"},
		{[]string{"stray"}, exitUsage, "", "unexpected argument stray"},
		{[]string{"--timers", "x"}, exitUsage, "", `must be one of "lan","slow-disk"`},
		{[]string{"--limit-groups", "x"}, exitUsage, "", "--limit-groups"},
		{[]string{"--name"}, exitUsage, "", "--name"},
		{[]string{"--version"}, exitOK, "tidemarkd ", ""},
		{[]string{"--help"}, exitOK, "    tidemarkd --dev\n", ""},
		{[]string{"--help"}, exitOK, "--print-config", ""},
	} {
		r := try(t, nil, c.args...)
		if r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.errs, c.errs) || c.errs == "" && r.errs != "" {
			t.Errorf("%q: exit %d, out %.80q, err %q", c.args, r.code, r.out, r.errs)
		}
	}
	if r := try(t, map[string]string{"TIDEMARK_LIMIT_GROUPS": "x"}); r.code != exitUsage || !strings.Contains(r.errs, "TIDEMARK_LIMIT_GROUPS") {
		t.Errorf("a wrong variable: exit %d, %s", r.code, r.errs)
	}
}

func TestStrangersAmongTheVariables(t *testing.T) {
	setEnv(t, nil)
	p, err := parse(nil, os.Stdout, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	got := strangers([]string{"TIDEMARK_NAM=x", "TIDEMARK_NAME=y", "TIDEMARK_ENDPOINTS=z", "TIDEMARKX=1", "PATH=/", "TIDEMARK_ADVERTIZE="}, p.flags)
	if want := []string{"TIDEMARK_ADVERTIZE", "TIDEMARK_NAM"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestByteSizes(t *testing.T) {
	for text, want := range map[string]bytesize{"0": 0, "17": 17, "1KiB": 1024, "256MiB": 256 << 20, "3GiB": 3 << 30} {
		var b bytesize
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want || b.String() != text {
			t.Errorf("%q: %d, %v, back to %q", text, b, err, b)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.5MiB", "MiB", "1MB", "99999999999GiB", "18446744073709551616"} {
		var b bytesize
		if err := b.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, b)
		}
	}
}
