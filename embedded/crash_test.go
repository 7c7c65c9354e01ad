package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/embedded"
	"github.com/tidemark-mq/tidemark/offset"
)

// childVariable makes this test's program a child that commits into a folder.
const childVariable = "TIDEMARK_EMBEDDED_TEST_CHILD"

// child commits one offset after the other, and says on standard output which
// were acknowledged, until it is killed.
func child(dir string) {
	ctx := context.Background()
	n, err := embedded.Open(ctx, dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s, err := client.NewRemoteStore(n.Client(), "billing", client.WithPersistInterval(0))
	if err != nil {
		panic(err)
	}
	next, err := s.ReadOffset(ctx, queue(0), client.ReadFromStore)
	if err != nil && !errors.Is(err, offset.ErrNoOffset) {
		panic(err)
	}
	fmt.Println("begins at", next)
	for {
		next++
		s.UpdateOffset(queue(0), next, true)
		if err := s.Persist(ctx, queue(0)); err != nil {
			panic(err)
		}
		fmt.Println(next)
	}
}

// TestNothingAcknowledgedIsLostByKill9: a child is killed at any moment, again
// and again, and each begins where the one before was acknowledged, or one on.
func TestNothingAcknowledgedIsLostByKill9(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	rounds := 5
	if os.Getenv("SOAK") != "" {
		rounds = 100
	}
	acknowledged := int64(0)
	for range rounds {
		acknowledged = runChild(t, dir, acknowledged, random.Int64N(50)+1)
	}
	n := open(t, dir)
	if v := read(t, newStore(t, n.Client()), queue(0)); v < acknowledged || v > acknowledged+1 {
		t.Errorf("the folder holds %d; %d was acknowledged", v, acknowledged)
	}
}

// runChild runs a child until it has had so many acknowledged, kills it, and
// returns the last that it told of.
func runChild(t *testing.T, dir string, before, acks int64) (acknowledged int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	stuck := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer stuck.Stop()
	lines := bufio.NewScanner(out)
	var begins int64
	if !lines.Scan() {
		t.Fatal("the child said nothing")
	}
	if _, err := fmt.Sscanf(lines.Text(), "begins at %d", &begins); err != nil {
		t.Fatalf("the child said %q", lines.Text())
	}
	if begins < before || begins > before+1 {
		t.Fatalf("a child begins at %d; %d was acknowledged before", begins, before)
	}
	acknowledged = begins
	for lines.Scan() {
		v, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			t.Fatalf("the child said %q", lines.Text())
		}
		if acknowledged = v; v == begins+acks {
			cmd.Process.Kill() // what it says until it is dead counts, too
		}
	}
	if acknowledged < begins+acks {
		t.Fatalf("the child ended by itself at %d", acknowledged)
	}
	return acknowledged
}
