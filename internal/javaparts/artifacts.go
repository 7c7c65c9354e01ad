package javaparts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Set is a set of Maven artifacts with all that they need: the folder under
// interop/ whose pom.xml names them.
type Set string

// The sets there are.
const (
	KafkaSet         Set = "kafka"            // a Kafka broker
	RocketMQ5Set     Set = "rocketmq5"        // RocketMQ 5.5.0: name server, broker, controller, client, tools
	RocketMQ53Set    Set = "rocketmq53"       // the same of 5.3.3
	RocketMQ4Set     Set = "rocketmq4"        // the same of 4.9.7, which has no controller
	OldClientSet     Set = "rocketmq49client" // RocketMQ's client 4.9.4
	RocketMQProxySet Set = "proxy"            // RocketMQ's proxy 5.5.0
	GRPCClientSet    Set = "grpcclient"       // RocketMQ's gRPC client 5.0.8
)

// A registry that is slow answers the next time, as a rule.
const (
	resolveAttempts = 3
	resolveTime     = 5 * time.Minute // of one attempt
)

// Classpath gives the class path of a set, resolving it first if need be. The
// test is skipped without java or mvn, and fails if Maven does.
func Classpath(tb testing.TB, set Set) string {
	tb.Helper()
	needs(tb, "java")
	dir, err := Jars(tb.Context(), set)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		tb.Skip("needs mvn: not installed")
	case err != nil:
		tb.Fatal(err)
	}
	return filepath.Join(dir, "*")
}

// needs skips the test if a program is missing.
func needs(tb testing.TB, program string) {
	tb.Helper()
	if _, err := exec.LookPath(program); err != nil {
		tb.Skipf("needs %s: not installed", program)
	}
}

// Jars gives the folder with the jars of a set, for who is no test; Maven
// fetches them the first time, some minutes at most. The folder's name holds the
// hash of the pom, so that a changed pom is resolved anew. The error is
// exec.ErrNotFound without mvn.
func Jars(ctx context.Context, set Set) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	pom := filepath.Join(root, "interop", string(set), "pom.xml")
	text, err := os.ReadFile(pom)
	if err != nil {
		return "", fmt.Errorf("reading what %s is made of: %w", set, err)
	}
	sum := sha256.Sum256(text)
	cache := filepath.Join(root, ".cache", "java")
	dir := filepath.Join(cache, string(set)+"-"+hex.EncodeToString(sum[:6]))
	if isDir(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(cache, "lock")) // Maven's own store takes one at a time
	if err != nil {
		return "", err
	}
	defer unlock()
	if isDir(dir) { // another process was first
		return dir, nil
	}
	return dir, download(ctx, pom, dir)
}

// download lets Maven copy what a pom names into dir: beside it at first, so
// that dir is whole once it exists.
func download(ctx context.Context, pom, dir string) error {
	beside := dir + ".part"
	defer os.RemoveAll(beside)
	var err error
	for range resolveAttempts {
		if err = os.RemoveAll(beside); err != nil {
			return err
		}
		if err = maven(ctx, pom, beside); err == nil {
			return os.Rename(beside, dir)
		}
		if errors.Is(err, exec.ErrNotFound) || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("mvn could not resolve %s in %d attempts; look whether Maven Central can be reached: %w", pom, resolveAttempts, err)
}

func maven(ctx context.Context, pom, into string) error {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mvn", "-B", "-q", "-f", pom,
		"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+into)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("no end after %v: %w", resolveTime, ctx.Err())
	}
	return fmt.Errorf("%w: %s", err, lastLines(out, 20))
}

// Root gives the root folder of the repository: the nearest above the working
// directory that holds interop/.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if isDir(filepath.Join(dir, "interop", string(KafkaSet))) {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", errors.New("no folder above the working directory holds interop/; run this inside the repository")
		}
		dir = above
	}
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// lastLines gives the end of what a program said.
func lastLines(b []byte, n int) string {
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
