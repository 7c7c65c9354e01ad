package conn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/frames"
)

func TestCallsTravelTogetherAndRepliesOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(0)
		c := dial(t, s, Config{})
		ctx := context.Background()
		first := start(ctx, c, 0)
		synctest.Wait() // the writer is blocked in Send with call 0
		var rest [9]<-chan result
		for i := range rest {
			rest[i] = start(ctx, c, i+1)
		}
		synctest.Wait()
		one, many := <-s.sent, <-s.sent
		if len(one.GetCalls()) != 1 || len(many.GetCalls()) != 9 {
			t.Fatalf("messages of %d and %d calls; want 1 and 9", len(one.GetCalls()), len(many.GetCalls()))
		}
		m := &tidemarkv1.StreamResponse{}
		for i := len(many.GetCalls()) - 1; i >= 0; i-- {
			m.Replies = append(m.Replies, answer(many.GetCalls()[i]))
		}
		s.replies <- m
		for i := range rest {
			if err := (<-rest[i]).check(i + 1); err != nil {
				t.Error(err)
			}
		}
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(one.GetCalls()[0])}}
		if err := (<-first).check(0); err != nil {
			t.Error(err)
		}
	})
}

func TestMessageIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(0)
		c := dial(t, s, Config{Batch: 20, Silence: time.Hour})
		ctx := context.Background()
		start(ctx, c, 1)
		synctest.Wait()
		for range 20 {
			start(ctx, c, 1)
		}
		synctest.Wait()
		calls := 0
		for calls < 21 {
			m := <-s.sent
			bytes := 0
			for _, call := range m.GetCalls() {
				calls++
				bytes += 4 // a call is 4 bytes until it has its id
				if call.GetFetch() == nil {
					t.Fatal("a call lost its content")
				}
			}
			if bytes > 20 {
				t.Fatalf("a message of %d bytes; the bound is 20", bytes)
			}
		}
		if calls != 21 {
			t.Fatalf("%d calls were sent; want 21", calls)
		}
	})
}

func TestTooLargeACallIsRefusedAlone(t *testing.T) {
	s := newScript(1)
	c := dial(t, s, Config{})
	big := &tidemarkv1.Call{Call: &tidemarkv1.Call_Set{Set: &tidemarkv1.SetRequest{ClusterId: string(make([]byte, offset.MaxMessage))}}}
	_, err := c.Do(context.Background(), big)
	wantError(t, err, false)
	if !errors.Is(err, offset.ErrInvalid) || c.Err() != nil {
		t.Fatalf("got %v, connection %v; want ErrInvalid and a connection that goes on", err, c.Err())
	}
}

func TestSilentConnectionIsGivenUpAfterHalfASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(1)
		c := dial(t, s, Config{})
		time.Sleep(time.Minute) // idle: no silence without calls
		if c.Err() != nil {
			t.Fatalf("an idle connection was given up: %v", c.Err())
		}
		began := time.Now()
		sent := start(context.Background(), c, 1)
		r := <-sent
		if took := time.Since(began); took != DefaultSilence {
			t.Fatalf("given up after %s; want %s", took, DefaultSilence)
		}
		wantError(t, r.err, true)
		if !errors.Is(r.err, offset.ErrOutcomeUnknown) {
			t.Fatalf("%v is not ErrOutcomeUnknown", r.err)
		}
		<-c.refusing
	})
}

func TestSignsOfLifeKeepAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(1)
		c := dial(t, s, Config{})
		got := start(context.Background(), c, 1)
		m := <-s.sent
		for range 50 {
			time.Sleep(100 * time.Millisecond)
			s.replies <- &tidemarkv1.StreamResponse{}
		}
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(m.GetCalls()[0])}}
		if err := (<-got).check(1); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSilenceIsNoticedWhileTheWriterIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(0) // Send never returns
		c := dial(t, s, Config{})
		first := start(context.Background(), c, 1)
		synctest.Wait()
		second := start(context.Background(), c, 2)
		wantError(t, (<-first).err, true)
		wantError(t, (<-second).err, false)
	})
}

func TestCancelBeforeTheWriterTakesACallMeansNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(0)
		c := dial(t, s, Config{Silence: time.Hour})
		first := start(context.Background(), c, 1)
		synctest.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		second := start(ctx, c, 2)
		synctest.Wait()
		cancel()
		e := wantError(t, (<-second).err, false)
		if !errors.Is(e, context.Canceled) || errors.Is(e, offset.ErrOutcomeUnknown) {
			t.Fatalf("%v; want the context's error alone", e)
		}
		third := start(context.Background(), c, 3)
		synctest.Wait()
		for _, want := range []int{1, 3} {
			m := <-s.sent
			if n := m.GetCalls()[0].GetFetch().GetAtIndex(); len(m.GetCalls()) != 1 || n != uint64(want) {
				t.Fatalf("call %d was sent; want call %d", n, want)
			}
			s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(m.GetCalls()[0])}}
		}
		if err := errors.Join((<-first).check(1), (<-third).check(3)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestDeadlineAfterSendingIsUnknownAndALateReplyIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(1)
		c := dial(t, s, Config{Silence: time.Hour})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		got := start(ctx, c, 1)
		m := <-s.sent
		e := wantError(t, (<-got).err, true)
		if !errors.Is(e, offset.ErrOutcomeUnknown) || !errors.Is(e, context.DeadlineExceeded) {
			t.Fatalf("%v; want ErrOutcomeUnknown and DeadlineExceeded", e)
		}
		next := start(context.Background(), c, 2)
		m2 := <-s.sent
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(m.GetCalls()[0]), answer(m2.GetCalls()[0])}}
		if err := (<-next).check(2); err != nil {
			t.Fatal(err)
		}
	})
}

func TestClosingServerAnswersWhatItTookAndGetsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(0)
		c := dial(t, s, Config{Silence: time.Hour})
		taken := start(context.Background(), c, 1)
		m := <-s.sent
		synctest.Wait()
		blocked := start(context.Background(), c, 2) // the writer is in Send
		synctest.Wait()
		waiting := start(context.Background(), c, 3) // queued behind it
		synctest.Wait()
		s.replies <- &tidemarkv1.StreamResponse{Closing: true}
		wantError(t, (<-waiting).err, false)
		<-c.refusing
		_, err := c.Do(context.Background(), fetch(4))
		wantError(t, err, false)
		if !errors.Is(err, offset.ErrClosed) {
			t.Fatalf("a call after closing got %v; want ErrClosed", err)
		}
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(m.GetCalls()[0])}}
		if err := (<-taken).check(1); err != nil {
			t.Fatal(err)
		}
		s.Close() // the server ends the stream: call 2 was sent, and is not answered
		wantError(t, (<-blocked).err, true)
	})
}

func TestRetiredConnectionEndsWithItsLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(1)
		c := dial(t, s, Config{Silence: time.Hour})
		got := start(context.Background(), c, 1)
		m := <-s.sent
		c.Retire()
		synctest.Wait()
		select {
		case <-s.closed:
			t.Fatal("ended with a call open")
		default:
		}
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(m.GetCalls()[0])}}
		if err := (<-got).check(1); err != nil {
			t.Fatal(err)
		}
		<-s.closed
	})
}

func TestCallsAboveTheBoundWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(8)
		c := dial(t, s, Config{InFlight: 2, Silence: time.Hour})
		a, b := start(context.Background(), c, 1), start(context.Background(), c, 1)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := c.Do(ctx, fetch(3))
		if e := wantError(t, err, false); !errors.Is(e, context.DeadlineExceeded) {
			t.Fatal(e)
		}
		third := start(context.Background(), c, 1)
		for range 3 {
			m := <-s.sent
			r := &tidemarkv1.StreamResponse{}
			for _, call := range m.GetCalls() {
				r.Replies = append(r.Replies, answer(call))
			}
			s.replies <- r
			synctest.Wait()
			if len(a)+len(b)+len(third) == 3 {
				break
			}
		}
		for _, ch := range []<-chan result{a, b, third} {
			if err := (<-ch).check(1); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestCloseEndsOpenCallsAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(1)
		c := dial(t, s, Config{})
		got := start(context.Background(), c, 1)
		<-s.sent
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { c.Close() })
		}
		both.Wait()
		wantError(t, (<-got).err, true)
		if _, err := c.Do(context.Background(), fetch(2)); !errors.Is(err, offset.ErrClosed) {
			t.Fatalf("a call after Close got %v", err)
		}
	})
}

func TestDialErrorSaysThatNothingWasSent(t *testing.T) {
	refused := errors.New("refused")
	_, err := Dial(context.Background(), Config{Addr: "a:1", Dialer: func(context.Context, string) (net.Conn, error) { return nil, refused }})
	if e := wantError(t, err, false); !errors.Is(e, refused) {
		t.Fatal(e)
	}
}

func TestSilenceCountsFromTheFirstOpenCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(1)
		c := dial(t, s, Config{})
		first := start(context.Background(), c, 1)
		m := <-s.sent
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(m.GetCalls()[0])}}
		if err := (<-first).check(1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(DefaultSilence - time.Millisecond)
		second := start(context.Background(), c, 2)
		m = <-s.sent
		time.Sleep(100 * time.Millisecond) // more than half a second since the last message
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(m.GetCalls()[0])}}
		if err := (<-second).check(2); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCallersThatGiveUpDoNotHideSilence: each waits for less than it takes to
// notice, and the connection is given up all the same.
func TestCallersThatGiveUpDoNotHideSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(100)
		c := dial(t, s, Config{})
		began := time.Now()
		for c.Err() == nil && time.Since(began) < 5*DefaultSilence {
			ctx, cancel := context.WithTimeout(context.Background(), DefaultSilence/3)
			got := start(ctx, c, 1)
			wantError(t, (<-got).err, true)
			cancel()
		}
		if took := time.Since(began); took > DefaultSilence {
			t.Fatalf("given up after %s; want %s", took, DefaultSilence)
		}
	})
}

// TestACallThatIsAnsweredLate after its caller has given up leaves nothing owed.
func TestACallThatIsAnsweredLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(1)
		c := dial(t, s, Config{})
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		got := start(ctx, c, 1)
		m := <-s.sent
		wantError(t, (<-got).err, true)
		time.Sleep(100 * time.Millisecond)
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(m.GetCalls()[0])}}
		time.Sleep(time.Minute)
		if c.Err() != nil {
			t.Fatalf("a connection that owes nothing was given up: %v", c.Err())
		}
	})
}

func TestRetiredConnectionEndsWhenItsLastCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(1)
		c := dial(t, s, Config{Silence: time.Hour})
		ctx, cancel := context.WithCancel(context.Background())
		got := start(ctx, c, 1)
		<-s.sent
		c.Retire()
		cancel()
		wantError(t, (<-got).err, true)
		<-c.Ended()
		<-s.closed
	})
}

func TestReplyToWhatWasNotSentIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(0)
		c := dial(t, s, Config{Silence: time.Hour})
		start(context.Background(), c, 1)
		synctest.Wait()
		second := start(context.Background(), c, 2)
		synctest.Wait()
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{{Id: 2}, {Id: 77}}}
		synctest.Wait()
		if len(second) != 0 {
			t.Fatal("a call was answered that was not sent")
		}
		<-s.sent
		m := <-s.sent
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(m.GetCalls()[0])}}
		if err := (<-second).check(2); err != nil {
			t.Fatal(err)
		}
	})
}

func TestPauseOfThisProcessIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(1)
		c := dial(t, s, Config{})
		got := start(context.Background(), c, 1)
		m := <-s.sent
		time.Sleep(DefaultSilence - time.Millisecond)
		c.mu.Lock()
		c.due = c.due.Add(-time.Second) // as if the timer came a second late
		c.mu.Unlock()
		time.Sleep(DefaultSilence - time.Millisecond)
		s.replies <- &tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{answer(m.GetCalls()[0])}}
		if err := (<-got).check(1); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAnAnswerThatTakesLongIsNoSilence: each byte of it is a sign of life. Once no
// more come the connection is given up in the usual time.
func TestAnAnswerThatTakesLongIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nc, peer := net.Pipe()
		defer peer.Close()
		reply, err := proto.Marshal(&tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{{Id: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		frame := append([]byte{0, 0, 0, 0, byte(len(reply))}, reply...)
		const pause = DefaultSilence - time.Millisecond
		go func() {
			r := bufio.NewReader(peer)
			if _, err := http.ReadRequest(r); err != nil {
				t.Error(err)
			}
			fmt.Fprintf(peer, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", frames.Protocol)
			for _, answer := range [][]byte{frame, frame[:len(frame)-1]} {
				_, _ = r.ReadByte() // a call has come
				_, _ = r.Discard(r.Buffered())
				for i := range answer {
					time.Sleep(pause)
					if _, err := peer.Write(answer[i : i+1]); err != nil {
						t.Errorf("byte %d: %v", i, err)
					}
				}
			}
		}()
		c, err := Dial(t.Context(), Config{Addr: "node:7411", Dialer: func(context.Context, string) (net.Conn, error) { return nc, nil }})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if r := <-start(t.Context(), c, 1); r.err != nil {
			t.Fatal(r.err)
		}
		time.Sleep(time.Minute)
		began := time.Now()
		wantError(t, (<-start(t.Context(), c, 2)).err, true)
		if took, want := time.Since(began), time.Duration(len(frame)-1)*pause+DefaultSilence; took != want {
			t.Errorf("given up after %s, want %s", took, want)
		}
	})
}
