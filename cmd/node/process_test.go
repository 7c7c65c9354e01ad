package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const patience = 20 * time.Second

// process is a daemon of its own, ended with its test.
type process struct {
	*exec.Cmd
	api   string // its address
	ops   string
	ended chan struct{} // closed once it has ended and its log is whole

	mu  sync.Mutex
	log bytes.Buffer
}

// spawn starts the daemon on ports that the system chooses.
func spawn(t *testing.T, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(exe, args...), ended: make(chan struct{})}
	p.Env = append(cleanEnv(), asDaemon+"=1")
	pipe, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			p.mu.Lock()
			p.log.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
		}
		_ = p.Wait() // ProcessState has what it says
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill() // it has ended, in most tests
		<-p.ended
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", p.text())
		}
	})
	return p
}

func cleanEnv() (env []string) {
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, envPrefix+"_") {
			env = append(env, pair)
		}
	}
	return env
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// wait returns the exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
		return p.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatalf("the daemon has not ended within %s", patience)
		return 0
	}
}

var listening = regexp.MustCompile(` listen=(\S+)`)
var opsListening = regexp.MustCompile(` ops_listen=(\S+)`)

// ready waits until the daemon serves.
func (p *process) ready(t *testing.T) {
	t.Helper()
	await(t, "the daemon's address", func() bool {
		m := listening.FindStringSubmatch(p.text())
		if m == nil {
			return p.gone()
		}
		p.api = m[1]
		if m := opsListening.FindStringSubmatch(p.text()); m != nil {
			p.ops = m[1]
		}
		return true
	})
	await(t, "ready", func() bool {
		status, _, err := get("http://" + p.api + "/readyz")
		return err == nil && status == http.StatusOK || p.gone()
	})
	if p.gone() {
		t.Fatalf("the daemon has ended with %v", p.ProcessState)
	}
}

func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, patience)
		}
		time.Sleep(5 * time.Millisecond) // between two looks at the condition
	}
}

func get(url string) (status int, body string, err error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := client.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

func post(url, body string) (status int, answer string, err error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// dev are the options of one node by itself, on ports of the system's choice
// and in a folder of the test.
func dev(t *testing.T, more ...string) []string {
	t.Helper()
	if !slices.Contains(more, "--data") {
		more = append(more, "--data", filepath.Join(t.TempDir(), "data"))
	}
	return append([]string{"--dev", "--listen", "127.0.0.1:0", "--peer-listen", freePort(t)}, more...)
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}
