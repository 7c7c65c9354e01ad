package systems

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// backwards is a broker that answers requests two by two, the later one first;
// a request with the topic "hold" is not answered.
func backwards(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-ended })
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		var kept []byte
		for {
			frame, err := readFrame(c)
			switch {
			case err != nil:
				return
			case strings.Contains(string(frame), "hold"):
			case kept == nil:
				kept = answerTo(frame)
			default:
				c.Write(append(answerTo(frame), kept...))
				kept = nil
			}
		}
	}()
	return l.Addr().String()
}

func readFrame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(r, frame)
	return frame, err
}

// answerTo is a request's own frame with the mark of an answer, and code 0.
func answerTo(frame []byte) []byte {
	answer := binary.BigEndian.AppendUint32(nil, uint32(len(frame)))
	answer = append(answer, frame...)
	header := answer[8:]
	header[0], header[1] = 0, 0 // code
	header[12] = 1              // the last byte of the flag, behind code, language, version and number
	return answer
}

// Answers find who asked, in whatever order they come, and a request that is
// given up ends by itself.
func TestExchange(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	x, err := dialExchange(ctx, backwards(t))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	short, giveUp := context.WithTimeout(ctx, 50*time.Millisecond)
	defer giveUp()
	if _, err := x.ask(short, 15, map[string]string{"topic": "hold"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request without an answer: %v", err)
	}
	asked := make(chan string, 2)
	for _, topic := range []string{"one", "two"} {
		go func() { // both are awaited below
			answers, err := x.ask(ctx, 15, map[string]string{"topic": topic})
			if err != nil {
				asked <- err.Error()
				return
			}
			asked <- topic + answers[0].Ext["topic"]
		}()
	}
	for range 2 {
		if got := <-asked; got != "oneone" && got != "twotwo" {
			t.Errorf("got %s", got)
		}
	}
	if answers, err := x.ask(ctx, 15, map[string]string{"topic": "a"}, map[string]string{"topic": "b"}); err != nil || len(answers) != 2 {
		t.Errorf("two at once: %v, %v", answers, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.waiting) > 0 {
		t.Errorf("%d still wait", len(x.waiting))
	}
}

// Whoever waits when the connection ends is told, and so is who asks after it.
func TestExchangeEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	x, err := dialExchange(ctx, backwards(t))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan error)
	go func() { // it is awaited below
		_, err := x.ask(ctx, 15, map[string]string{"topic": "hold"})
		asked <- err
	}()
	for waits := 0; waits == 0 && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		x.mu.Lock()
		waits = len(x.waiting)
		x.mu.Unlock()
	}
	x.Close()
	if err := <-asked; err == nil {
		t.Error("who waited is not told")
	}
	if _, err := x.ask(ctx, 15, map[string]string{"topic": "late"}); err == nil {
		t.Error("a closed connection takes requests")
	}
}
