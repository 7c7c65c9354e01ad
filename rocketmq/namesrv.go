package rocketmq

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/tidemark-mq/tidemark/offset"
)

// The requests that a name server answers.
const (
	codeRouteInfo   = 105 // GET_ROUTEINFO_BY_TOPIC
	codeClusterInfo = 106 // GET_BROKER_CLUSTER_INFO
)

// brokerData is a broker in a name server's answers.
type brokerData struct {
	Cluster string            `json:"cluster"`
	Name    string            `json:"brokerName"`
	Addrs   map[string]string `json:"brokerAddrs"` // by the broker's id; 0 is the master
}

// master gives the broker's master; ok is false if it has none.
func (d *brokerData) master() (b Broker, ok bool, err error) {
	for id, addr := range d.Addrs {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return b, false, damaged("the broker %q has an id that is no number: %q", d.Name, id)
		}
		if n == 0 {
			b, ok = Broker{Name: d.Name, Cluster: d.Cluster, Addr: addr}, true
		}
	}
	if err := offset.ValidateName("broker name", d.Name, false); err != nil {
		return b, false, damaged("a broker's name: %v", err)
	}
	return b, ok, nil
}

// clusterInfo asks the name server for all masters, by name.
func (c *Client) clusterInfo(ctx context.Context) (map[string]Broker, error) {
	var body []byte
	r := request{code: codeClusterInfo, what: "the brokers it knows"}
	if err := c.pool.call(ctx, c.addr, r.body(&body)); err != nil {
		return nil, err
	}
	list, err := mastersOf(body)
	if err != nil {
		return nil, err
	}
	masters := map[string]Broker{}
	for _, b := range list {
		masters[b.Name] = b
	}
	return masters, nil
}

// route asks the name server for the masters that have a topic. The error
// wraps offset.ErrNotFound if there is no such topic.
func (c *Client) route(ctx context.Context, topic string) ([]Broker, error) {
	var body []byte
	r := request{code: codeRouteInfo, what: "the brokers of a topic"}.with("topic", topic)
	if err := c.pool.call(ctx, c.addr, r.body(&body)); err != nil {
		return nil, err
	}
	return mastersOf(body)
}

// mastersOf gives the masters in either answer of a name server.
func mastersOf(body []byte) (list []Broker, err error) {
	var info struct {
		Table map[string]brokerData `json:"brokerAddrTable"` // of 106
		Datas []brokerData          `json:"brokerDatas"`     // of 105
	}
	if err := unmarshal(body, &info); err != nil {
		return nil, err
	}
	for _, d := range slices.AppendSeq(info.Datas, maps.Values(info.Table)) {
		b, ok, err := d.master()
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, b)
		}
	}
	return list, nil
}
