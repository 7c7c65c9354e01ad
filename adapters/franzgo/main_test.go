package franzgo_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/tidemark-mq/tidemark/adapters/franzgo"
	"github.com/tidemark-mq/tidemark/client"
)

// childEnv has the test binary be a consumer, which the test kills: the
// addresses of Kafka and Tidemark, group and topic. For each line of its input
// it consumes one record.
const childEnv = "FRANZGO_CONSUME"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		if err := consumeUntilKilled(strings.Split(args, " ")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// consumeUntilKilled says on stdout what was polled, and each persist that was
// acknowledged, which is after every seventh record.
func consumeUntilKilled(args []string) error {
	tide, err := client.New(strings.Split(args[1], ","))
	if err != nil {
		return err
	}
	c, err := franzgo.NewConsumer(tide, franzgo.Config{
		Group: args[2], Topics: []string{args[3]},
		Kafka: []kgo.Opt{kgo.SeedBrokers(args[0]), kgo.SessionTimeout(3 * time.Second), kgo.HeartbeatInterval(300 * time.Millisecond)},
		Start: client.Start{From: client.FromFirst},
	})
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for n := 1; ; {
		records, err := c.Poll(context.Background())
		if err != nil {
			return err
		}
		for _, r := range records {
			if !in.Scan() {
				return errors.New("the test has ended")
			}
			r.Done()
			fmt.Printf("done %d %d\n", r.Partition, r.Offset)
			if n++; n%7 == 0 {
				if err := c.Persist(context.Background()); err != nil {
					return err
				}
				fmt.Println("persisted")
			}
		}
	}
}
