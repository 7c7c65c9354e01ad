package main

import "github.com/tidemark-mq/tidemark/offset"

func tellGet(s *telling) {
	s.set(42, key("billing", "orders", "broker-a", 0))
	s.set(7, key("billing", "orders", "broker-a", 1), key("billing", "refunds", "", 0))
	s.forms("get", "billing")
	s.tidemark("get", "billing", "orders", "1", "--broker", "broker-a")
	s.tidemark("get", "billing", "orders", "1", "--broker", "")
	s.tidemark("get", "nobody")
	s.tidemark("get")
}

func tellCommit(s *telling) {
	s.tidemark("commit", "billing", "orders", "0", "42")
	s.forms("commit", "billing", "orders", "0", "42", "--execute")
	s.tidemark("commit", "billing", "orders", "0", "7", "--execute")
	s.tidemark("commit", "billing", "orders", "0", "-1")
	s.tidemark("commit", "billing", "orders", "x", "1")
	s.tidemark("commit", "billing")
}

func tellGroupList(s *telling) {
	s.set(1, key("billing", "orders", "", 0), key("%RETRY%billing", "orders", "", 0), key("组一", "orders", "", 0))
	s.forms("group", "list")
	s.forms("group", "list", "--prefix", "nothing")
	s.tidemark("group", "list", "--limit", "1")
	s.tidemark("group", "list", "--topic", "nothing")
	s.tidemark("group", "list", "--limit=-1")
}

// billing puts a group in that consumes two topics, one of a broker and one without.
func (s *telling) billing() {
	s.set(42, key("billing", "orders", "broker-a", 0), key("billing", "orders", "broker-a", 1))
	s.set(7, key("billing", "refunds", "", 0))
}

func tellGroupDescribe(s *telling) {
	s.billing()
	s.tidemark("group", "describe", "billing")
	s.tidemark("group", "set", "billing", "refunds:0=3", "--execute")
	s.forms("group", "describe", "billing")
	s.tidemark("group", "describe", "billing", "--pending")
	s.tidemark("group", "describe", "billing", "--topic", "orders", "--broker", "broker-a")
	s.tidemark("group", "describe", "nobody")
	s.tidemark("group", "describe")
}

func tellGroupLag(s *telling) {
	s.billing()
	s.fake.brokers = &fakeBrokers{}
	s.forms("group", "describe", "billing", "--topic", "orders", "--rocketmq", "namesrv:9876")
	s.tidemark("group", "describe", "billing", "--rocketmq", "namesrv:9876")
	s.fake.brokers.down = offset.Errorf(offset.ErrUnreachable, "namesrv:9876")
	s.tidemark("group", "describe", "billing", "--rocketmq", "namesrv:9876")
}

func tellGroupReset(s *telling) {
	s.billing()
	file := s.written("consumerOffset.json", `{"offsetTable":{"orders@billing":{0:5,1:6,2:7},"orders@other":{0:1}}}`)
	s.forms("group", "reset", "billing", "--to-offset", "10")
	s.forms("group", "reset", "billing", "--to-offset", "10", "--topic", "orders", "--execute")
	s.tidemark("group", "reset", "billing", "--shift-by", "-20", "--queue", "1")
	s.tidemark("group", "reset", "billing", "--shift-by", "5", "--execute")
	s.tidemark("group", "reset", "billing", "--from-file", file, "--broker", "broker-a", "--execute")
	s.tidemark("group", "reset", "billing", "--from-file", file, "--topic", "refunds")
	s.set(100, key("other", "orders", "broker-a", 0), key("other", "events", "", 0))
	s.tidemark("group", "reset", "billing", "--from-group", "other", "--execute")
	s.tidemark("group", "reset", "billing", "--from-group", "nobody")
	s.tidemark("group", "reset", "nobody", "--to-offset", "1")
	s.tidemark("group", "reset", "billing", "--to-offset", "0", "--expect-index", "1")
	s.tidemark("group", "reset", "billing", "--to-offset", "0", "--expect-index", "1000000")
	s.tidemark("group", "reset", "billing", "--to-offset", "-1")
	s.tidemark("group", "reset", "billing")
	s.tidemark("group", "reset", "billing", "--to-offset", "1", "--shift-by", "1")
	s.tidemark("group", "reset", "billing", "--to-earliest")
	s.tidemark("group", "reset")
}

func tellGroupResetBroker(s *telling) {
	s.billing()
	s.fake.brokers = &fakeBrokers{}
	reset := func(args ...string) {
		s.tidemark(append([]string{"group", "reset", "billing", "--topic", "orders", "--rocketmq", "namesrv:9876"}, args...)...)
	}
	reset("--to-earliest")
	reset("--to-latest")
	reset("--to-time", "2023-11-14T22:33:20Z")
	reset("--to-time", "30m", "--execute")
	reset("--to-time", "soon")
	reset("--to-offset", "3")
	reset("--shift-by", "1000")
	s.tidemark("group", "reset", "billing", "--to-latest", "--rocketmq", "namesrv:9876")
	s.fake.brokers.down = offset.Errorf(offset.ErrUnreachable, "namesrv:9876")
	reset("--to-latest")
}

// tellGroupResetPartial: another operator moves one of the queues between the
// look and the act.
func tellGroupResetPartial(s *telling) {
	s.billing()
	s.fake.before = func() {
		s.fake.before = nil
		s.exec(s.T, "group", "set", "billing", "orders:1=9", "--broker", "broker-a", "--execute")
	}
	s.tidemark("group", "reset", "billing", "--to-offset", "1", "--execute")
	s.fake.before = func() {
		s.fake.before = nil
		s.exec(s.T, "group", "set", "billing", "refunds:0=8", "--execute")
	}
	s.tidemark("group", "reset", "billing", "--topic", "refunds", "--to-offset", "1", "--execute", "-o", "json")
	s.tidemark("get", "billing")
}

func tellGroupSet(s *telling) {
	s.billing()
	s.tidemark("group", "set", "billing", "orders:0=40", "orders:7=1", "--broker", "broker-a")
	s.forms("group", "set", "billing", "orders:0=40", "orders:7=1", "--broker", "broker-a", "--execute")
	s.tidemark("group", "set", "billing", "orders")
	s.tidemark("group", "set", "billing", "orders:0=-1")
	s.tidemark("group", "set", "billing", "orders:0=1", "orders:0=2")
	s.tidemark("group", "set", "billing")
}

func tellGroupClone(s *telling) {
	s.billing()
	s.forms("group", "clone", "billing", "billing-new")
	s.forms("group", "clone", "billing", "billing-new", "--topic", "orders", "--execute")
	s.tidemark("group", "clone", "billing", "billing-new")
	s.tidemark("group", "clone", "billing", "billing-new", "--execute")
	s.tidemark("group", "clone", "billing", "billing-new", "--execute", "--overwrite")
	s.tidemark("group", "clone", "nobody", "billing-new")
	s.tidemark("group", "clone", "billing", "billing")
	s.tidemark("group", "clone", "billing")
}

func tellGroupRemove(s *telling) {
	s.billing()
	s.forms("group", "remove", "billing")
	s.tidemark("group", "remove", "billing", "--topic", "orders", "--broker", "broker-a", "--queue", "1", "--execute")
	s.tidemark("group", "remove", "billing", "--expect-index", "1", "--execute")
	s.forms("group", "remove", "billing", "--topic", "orders", "--execute")
	s.tidemark("group", "remove", "billing", "--execute", "-o", "json")
	s.tidemark("group", "remove", "billing", "--queue", "1", "--execute")
	s.tidemark("group", "remove")
}

func tellGroupExpire(s *telling) {
	s.billing()
	s.set(1, key("dead", "orders", "", 0), key("deader", "orders", "", 0), key("alive", "orders", "", 0))
	for range 20 {
		s.set(2, key("alive", "orders", "", 0))
	}
	s.forms("group", "expire", "--unmoved-since", "59m50s")
	s.tidemark("group", "expire", "--unmoved-since", "59m50s", "--limit", "1", "--without", "billing")
	s.fake.before = func() {
		s.fake.before = nil
		s.set(3, key("deader", "orders", "", 0))
	}
	s.tidemark("group", "expire", "--unmoved-since", "59m50s", "--prefix", "dead", "--execute")
	s.tidemark("group", "expire", "--unmoved-since", "30d")
	s.tidemark("group", "expire", "--unmoved-since", "30d", "-o", "json", "--execute")
	s.tidemark("group", "expire", "--unmoved-since", "yesterday")
	s.tidemark("group", "expire", "--unmoved-since", "30d", "--limit", "0")
	s.tidemark("group", "expire")
}

func tellTopic(s *telling) {
	s.billing()
	s.set(9, key("audit", "orders", "broker-a", 0))
	s.forms("topic", "list")
	s.forms("topic", "list", "--prefix", "nothing")
	s.tidemark("topic", "list", "--group", "audit")
	s.tidemark("topic", "list", "--limit", "1")
	s.forms("topic", "describe", "orders")
	s.tidemark("topic", "describe", "orders", "--broker", "")
	s.tidemark("topic", "describe", "nothing")
	s.tidemark("topic", "describe")
}

// names are shapes that routes, escapes and shells are prone to mistake.
var shapes = []string{"a/b", "%RETRY%g", "%2Fx", "sp ace", "..", "组一", "q?x=1#y", "a+b", "-dash", `back\slash`, `"quoted"`}

func tellNames(s *telling) {
	for _, n := range shapes {
		s.tidemark("commit", "--execute", "--broker", "b:1", "--", n, n, "0", "5")
		s.tidemark("group", "describe", "--topic="+n, "-o", "json", "--", n)
		s.tidemark("group", "set", "--broker", "b:1", "--execute", "--", n, n+":0=4")
	}
	s.tidemark("group", "list")
	s.tidemark("topic", "list")
	for _, n := range shapes {
		s.tidemark("group", "remove", "--execute", "--", n)
	}
	s.tidemark("group", "describe", "g\ntidemark: all is well")
	s.tidemark("group", "list")
}

func tellUsage(s *telling) {
	for _, args := range [][]string{{}, {"nonsense"}, {"group"}, {"group", "nonsense"}, {"topic"}, {"cluster"}, {"contexts"}, {"dump"},
		{"get", "g", "--nonsense"}, {"get", "g", "-o", "xml"}, {"get", "g", "--endpoints", "h:1", "--context", "c"}, {"get", "g", "--context", "nowhere"}} {
		s.tidemark(args...)
	}
}
