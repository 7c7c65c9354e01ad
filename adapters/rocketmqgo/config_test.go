package rocketmqgo_test

import (
	"errors"
	"testing"

	"github.com/apache/rocketmq-client-go/v2/consumer"

	"github.com/tidemark-mq/tidemark/adapters/rocketmqgo"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

func TestConfig(t *testing.T) {
	tide, err := client.New([]string{"127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer tide.Close()
	for name, cfg := range map[string]rocketmqgo.Config{
		"nothing to consume": {Group: "g"},
		"no group":           {Topics: []string{"t"}},
		"a policy of none":   {Group: "g", Topics: []string{"t"}, OutOfRange: rocketmqgo.Stop + 1},
	} {
		if _, err := rocketmqgo.NewConsumer(tide, cfg); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	bad := rocketmqgo.Config{Group: "g", Topics: []string{"t"}, RocketMQ: []consumer.Option{consumer.WithNameServer([]string{"no address"})}}
	if _, err := rocketmqgo.NewConsumer(tide, bad); err == nil {
		t.Error("a name server without an address is taken")
	}
}
