package rocketmqgo_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/rlog"

	"github.com/tidemark-mq/tidemark/adapters/rocketmqgo"
	"github.com/tidemark-mq/tidemark/client"
)

// childEnv has the test binary be a consumer, which the test kills: the
// addresses of the name server and Tidemark, group and topic. For each line of
// its input it consumes one message.
const childEnv = "ROCKETMQGO_CONSUME"

func TestMain(m *testing.M) {
	rlog.SetLogLevel("fatal")
	if args := os.Getenv(childEnv); args != "" {
		if err := consumeUntilKilled(strings.Split(args, " ")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// consumeUntilKilled says on stdout what it did, and each persist that was
// acknowledged, which is after every seventh message.
func consumeUntilKilled(args []string) error {
	tide, err := client.New(strings.Split(args[1], ","))
	if err != nil {
		return err
	}
	c, err := rocketmqgo.NewConsumer(tide, rocketmqgo.Config{
		Group: args[2], Topics: []string{args[3]},
		RocketMQ: []consumer.Option{consumer.WithNameServer([]string{args[0]})},
		Start:    client.Start{From: client.FromFirst},
	})
	if err == nil {
		err = c.Start()
	}
	in := bufio.NewScanner(os.Stdin)
	for n := 1; err == nil; {
		var list []rocketmqgo.Message
		list, err = c.Poll(context.Background())
		for _, m := range list {
			if !in.Scan() {
				return errors.New("the test has ended")
			}
			m.Done()
			fmt.Printf("done %d %d\n", m.Queue.QueueId, m.QueueOffset)
			if n++; n%7 == 0 {
				if err := c.Persist(context.Background()); err != nil {
					return err
				}
				fmt.Println("persisted")
			}
		}
	}
	return err
}
