package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
	"github.com/tidemark-mq/tidemark/rocketmq"
)

// Brokers gives a master for each name that something is held under.
func (b *fakeBrokers) Brokers(ctx context.Context) (list []rocketmq.Broker, err error) {
	for _, name := range slices.Sorted(maps.Keys(b.held)) {
		list = append(list, rocketmq.Broker{Name: name, Cluster: "C", Addr: name + ":10911"})
	}
	return list, cmp.Or(b.down, ctx.Err())
}

// ConsumerOffsets reads what a broker holds.
func (b *fakeBrokers) ConsumerOffsets(ctx context.Context, x rocketmq.Broker, o offsetfile.Options) (*offsetfile.File, error) {
	if err := cmp.Or(b.down, ctx.Err()); err != nil {
		return nil, err
	}
	o.Broker = cmp.Or(o.Broker, x.Name)
	return offsetfile.Read(strings.NewReader(b.held[strings.TrimSuffix(x.Addr, ":10911")]), o)
}

// held has what a broker may hold: offsets, its own groups, and what is none.
const held = `{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":1700000000000},"groupTopicMap":{},"offsetTable":{
"orders@billing":{0:42,1:40,2:7,3:-1},"orders@other":{0:9223372036854775807},"noseparator":{0:1},
"rmq_sys_REVIVE_LOG_interop@CID_RMQ_SYS_REVIVE_GROUP":{0:11,1:12}},"pullOffsetTable":{}}`

func tellRocketMQDiff(s *telling) {
	s.fake.brokers = &fakeBrokers{held: map[string]string{"broker-a": held}}
	s.set(42, key("billing", "orders", "broker-a", 0), key("billing", "orders", "broker-a", 1))
	s.set(5, key("billing", "orders", "broker-a", 3), key("gone", "orders", "broker-a", 0), key("elsewhere", "orders", "broker-b", 0))
	s.forms("rocketmq", "diff", "broker-a:10911")
	s.tidemark("rocketmq", "diff", "broker-a:10911", "--limit", "1", "--system")
	s.tidemark("rocketmq", "diff", "broker-a:10911", "--group", "gone", "--group", "other")
	s.tidemark("rocketmq", "diff", "broker-a:10911", "--broker", "broker-b")
	s.tidemark("rocketmq", "diff", "broker-a:10911", "--broker", "", "--group", "billing")
	s.tidemark("rocketmq", "diff", "broker-a:10911", "--group", "billing", "--wait", "1ms")
	s.tidemark("rocketmq", "diff", "broker-a:10911", "--group", "nobody")

	s.fake.brokers.held = map[string]string{"broker-b": `{"offsetTable":{"orders@elsewhere":{0:5,1:-1}}}`}
	s.forms("rocketmq", "diff", "namesrv:9876")
	s.fake.brokers.held["broker-a"] = `{"offsetTable":{}}`
	s.tidemark("rocketmq", "diff", "namesrv:9876")
	s.tidemark("rocketmq", "diff", "namesrv:9876", "--broker", "broker-b")
	s.tidemark("rocketmq", "diff", "namesrv:9876", "--broker", "broker-c")
	s.fake.brokers.held["broker-a"] = `{"offsetTable":{"orders@billing":{0:1.5}}}`
	s.tidemark("rocketmq", "diff", "namesrv:9876")
	s.fake.brokers.held = nil
	s.tidemark("rocketmq", "diff", "namesrv:9876")
	s.fake.brokers.down = &rocketmq.RemoteError{Code: 16, Remark: "No accessKey is configured"}
	s.tidemark("rocketmq", "diff", "namesrv:9876")
	s.fake.brokers.down = offset.Errorf(offset.ErrUnreachable, "connection refused")
	s.tidemark("rocketmq", "diff", "namesrv:9876")
	s.tidemark("rocketmq", "diff", "namesrv:9876", "--limit", "10001")
	s.tidemark("rocketmq", "diff", "namesrv:9876", "--wait", "soon")
	s.tidemark("rocketmq", "diff")
}

func tellRocketMQImport(s *telling) {
	s.fake.brokers = &fakeBrokers{held: map[string]string{"broker-a": held}}
	s.forms("import", "rocketmq://broker-a:10911")
	s.tidemark("import", "rocketmq://broker-a:10911", "--execute")
	s.tidemark("import", "rocketmq://broker-a:10911", "--execute", "--group", "billing", "--broker", "renamed")
	s.fake.brokers.held["broker-b"] = `{"offsetTable":{"orders@billing":{0:1}}}`
	s.tidemark("import", "rocketmq://namesrv:9876", "--replace")
	s.tidemark("import", "rocketmq://namesrv:9876", "--broker", "broker-b")
	s.tidemark("import", "broker-b=rocketmq://namesrv:9876", "--execute")
	s.tidemark("import", "rocketmq://namesrv:9876", "--format", "csv")
	s.fake.brokers.down = offset.Errorf(offset.ErrUnreachable, "connection refused")
	s.tidemark("import", "rocketmq://namesrv:9876")
}
