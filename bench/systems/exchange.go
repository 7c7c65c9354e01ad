package systems

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
)

// exchange is a connection to a RocketMQ broker on which any number of requests
// are under way, told apart by their numbers, as RocketMQ's own client has one.
type exchange struct {
	c *remoting.Conn
	// done is closed once the reader has ended.
	done chan struct{}

	// sending is held while c is written to. The reader never needs it: else
	// both ends could wait for the other to read.
	sending sync.Mutex

	mu sync.Mutex // guards what follows; taken under sending
	// waiting has who waits for the answer of a number.
	waiting map[int]chan<- *remoting.Frame
	// ended is why the reader has; nil before.
	ended error
}

// dialExchange connects. Close waits for the goroutine that reads.
func dialExchange(ctx context.Context, addr string) (*exchange, error) {
	c, err := remoting.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	c.Form = remoting.Binary // it costs both ends less than JSON, which is the default
	x := &exchange{c: c, done: make(chan struct{}), waiting: map[int]chan<- *remoting.Frame{}}
	go x.read()
	return x, nil
}

// Close ends the connection, and whoever waits for an answer gets an error.
func (x *exchange) Close() error {
	x.c.Close()
	<-x.done
	return nil
}

// read hands out answers until the connection ends.
func (x *exchange) read() {
	defer close(x.done)
	for {
		f, err := x.c.Receive()
		if err != nil && x.fail(err) {
			return
		}
		if err == nil {
			x.answer(f)
		}
	}
}

// answer gives an answer to who waits for it, if anybody still does.
func (x *exchange) answer(f *remoting.Frame) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if to := x.waiting[f.Opaque]; to != nil {
		to <- f // which has room for it
		delete(x.waiting, f.Opaque)
	}
}

// fail ends the connection for all who wait; that nothing came while nobody
// waited is no failure.
func (x *exchange) fail(err error) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if errors.Is(err, os.ErrDeadlineExceeded) && len(x.waiting) == 0 {
		return false
	}
	x.ended = fmt.Errorf("the connection to the broker has ended: %w", err)
	return true
}

// ask sends requests of a code one behind the other and gives the answers in the
// order they come; each has to be 0, done.
func (x *exchange) ask(ctx context.Context, code int, requests ...map[string]string) ([]*remoting.Frame, error) {
	came := make(chan *remoting.Frame, len(requests))
	numbers, err := x.send(code, requests, came)
	defer x.forget(numbers)
	if err != nil {
		return nil, err
	}
	var answers []*remoting.Frame
	for len(answers) < len(requests) {
		select {
		case f := <-came:
			if f.Code != 0 {
				return nil, fmt.Errorf("request %d was answered by %d: %s", code, f.Code, f.Remark)
			}
			answers = append(answers, f)
		case <-x.done:
			return nil, x.ended // which is written no more
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return answers, nil
}

func (x *exchange) send(code int, requests []map[string]string, came chan<- *remoting.Frame) (numbers []int, err error) {
	x.sending.Lock()
	defer x.sending.Unlock()
	for _, ext := range requests {
		n, err := x.c.Queue(code, ext, nil)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	if err := x.expect(numbers, came); err != nil {
		return numbers, err
	}
	return numbers, x.c.Flush()
}

// expect has the answers of numbers handed to came.
func (x *exchange) expect(numbers []int, came chan<- *remoting.Frame) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range numbers {
		x.waiting[n] = came
	}
	return x.ended
}

func (x *exchange) forget(numbers []int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range numbers {
		delete(x.waiting, n)
	}
}
