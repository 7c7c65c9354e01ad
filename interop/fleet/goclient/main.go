// Command goclient runs rocketmq-client-go's consumers, told by lines on stdin
// as those of Remoting.java are. It is built with two versions of that client:
// go.mod has the newer, v2.1.2.mod the older.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

// running are the ends of a group's consumers.
var running = map[string][]func() error{}

func main() {
	rlog.SetOutputPath(os.DevNull) // it writes to stdout otherwise
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := do(os.Args[1], strings.Split(lines.Text(), "\t")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(".")
	}
}

func do(names string, a []string) error {
	switch a[0] {
	case "consume":
		count, err := strconv.Atoi(a[4])
		for i := 0; i < count && err == nil; i++ {
			err = consume(names, a[1], a[2], a[3], i, a[5])
		}
		return err
	case "stop":
		for _, end := range running[a[1]] {
			if err := end(); err != nil {
				return err
			}
		}
		delete(running, a[1])
		return nil
	}
	return fmt.Errorf("what is %q?", a)
}

func consume(names, kind, group, topic string, i int, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	options := []consumer.Option{
		consumer.WithNameServer([]string{names}), consumer.WithGroupName(group),
		consumer.WithInstance(fmt.Sprint(group, "-", i)), consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
		consumer.WithPullBatchSize(32),
	}
	if kind == "go-push" {
		return push(group, topic, options, f)
	}
	return pull(group, topic, options, f)
}

func push(group, topic string, options []consumer.Option, f *os.File) error {
	c, err := rocketmq.NewPushConsumer(options...)
	if err != nil {
		return err
	}
	err = c.Subscribe(topic, consumer.MessageSelector{}, func(_ context.Context, list ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		return consumer.ConsumeSuccess, record(f, list)
	})
	if err != nil {
		return err
	}
	running[group] = append(running[group], c.Shutdown)
	return c.Start()
}

func pull(group, topic string, options []consumer.Option, f *os.File) error {
	c, err := rocketmq.NewPullConsumer(options...)
	if err != nil {
		return err
	}
	if err := c.Subscribe(topic, consumer.MessageSelector{}); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() { poll(ctx, c, f) })
	running[group] = append(running[group], func() error {
		cancel()
		loop.Wait()
		return c.Shutdown()
	})
	return nil
}

func poll(ctx context.Context, c rocketmq.PullConsumer, f *os.File) {
	for ctx.Err() == nil {
		request, err := c.Poll(ctx, 200*time.Millisecond)
		if err != nil {
			continue // nothing new
		}
		if err := record(f, request.GetMsgList()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		c.ACK(ctx, request, consumer.ConsumeSuccess)
	}
}

// record writes number, queue, offset, and times delivered before.
func record(f *os.File, list []*primitive.MessageExt) error {
	var text strings.Builder
	for _, m := range list {
		number, _, _ := strings.Cut(string(m.Body), " ")
		fmt.Fprintf(&text, "%s %s/%d %d %d\n", number, m.Queue.BrokerName, m.Queue.QueueId, m.QueueOffset, m.ReconsumeTimes)
	}
	_, err := f.WriteString(text.String())
	return err
}
