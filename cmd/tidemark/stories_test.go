package main

// stories are all that golden files record, by command.
var stories = []story{
	{name: "get", tell: tellGet},
	{name: "group-list", tell: tellGroupList},
}

func tellGet(s *telling) {
	s.set(42, key("billing", "orders", "broker-a", 0))
	s.set(7, key("billing", "orders", "broker-a", 1), key("billing", "refunds", "", 0))
	s.forms("get", "billing")
	s.tidemark("get", "billing", "orders", "1", "--broker", "broker-a")
	s.tidemark("get", "billing", "orders", "1", "--broker", "")
	s.tidemark("get", "nobody")
	s.tidemark("get")
	s.tidemark("get", "--help")
}

func tellGroupList(s *telling) {
	s.forms("group", "list")
	s.set(1, key("billing", "orders", "", 0), key("%RETRY%billing", "orders", "", 0), key("组一", "orders", "", 0))
	s.forms("group", "list")
	s.tidemark("group", "list", "--limit", "1")
	s.tidemark("group", "list", "--topic", "nothing")
	s.tidemark("group", "list", "--limit=-1")
	s.tidemark("group", "list", "--help")
}
