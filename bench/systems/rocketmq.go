package systems

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
)

// Codes of RocketMQ's remoting protocol (its RequestCode).
const (
	codeQueryOffset  = 14
	codeUpdateOffset = 15
	codeTopicList    = 18
	codeBrokerInfo   = 28
	codeGroupList    = 225
)

// rocketmq is one RocketMQ broker, a master by itself: what Tidemark is used
// instead of. It keeps offsets in memory and writes them to a file every 5 s;
// another broker would copy them every 10 s. Nobody takes over.
type rocketmq struct {
	// jars is the folder of its jars.
	jars string

	dir  string
	node [1]process
	port int
	// topics and groups are how many have been made.
	topics, groups int
}

func (r *rocketmq) Durability() Durability {
	return Durability{Write: "in memory of ONE broker, NOT replicated, NOT synced", Read: "of the one broker's memory"}
}

// Batches are sent one request behind the other: the protocol has none.
func (r *rocketmq) Batches() []Work {
	return []Work{
		{Op: Write, Callers: 16, Batch: 100, Way: behind}, {Op: Write, Callers: 4, Batch: 1000, Way: behind},
		{Op: Write, Callers: 8, Batch: 1000, Way: behind}, {Op: Write, Callers: 16, Batch: 1000, Way: behind},
	}
}

// behind is the way of a batch.
const behind = "one behind the other"

func (r *rocketmq) Start(ctx context.Context, dir string) error {
	list, err := freePorts(2)
	if err != nil {
		return err
	}
	r.dir, r.port = dir, list[0]
	conf := filepath.Join(dir, "broker.conf")
	if err := os.WriteFile(conf, []byte(r.settings(list[1])), 0o600); err != nil {
		return err
	}
	options := jvm("2g", "-XX:G1HeapRegionSize=16m", "-XX:G1ReservePercent=25", "-XX:InitiatingHeapOccupancyPercent=30",
		"-XX:SoftRefLRUPolicyMSPerMB=0", "-XX:-UseLargePages", "-Drocketmq.home.dir="+dir, "-Duser.home="+dir)
	if err := r.node[0].startJava(dir, "n1", options, classOf(r.jars, "org.apache.rocketmq.broker.BrokerStartup", "-c", conf)); err != nil {
		return err
	}
	return await(ctx, r.node[:], func(ctx context.Context) error {
		_, err := remoting.Call(ctx, local(r.port), codeBrokerInfo, nil, nil)
		return err
	})
}

// settings are names, addresses and folders; the rest is as shipped.
func (r *rocketmq) settings(replicas int) string {
	store := filepath.ToSlash(filepath.Join(r.dir, "n1"))
	return strings.Join([]string{
		"brokerClusterName=bench", "brokerName=broker-a", "brokerId=0", "brokerIP1=127.0.0.1", "brokerIP2=127.0.0.1", "bindAddress=127.0.0.1",
		"listenPort=" + strconv.Itoa(r.port), "haListenPort=" + strconv.Itoa(replicas), "storePathRootDir=" + store, "storePathCommitLog=" + store + "/commitlog", "",
	}, "\n")
}

// Kill does nothing: there is no failover to be measured.
func (r *rocketmq) Kill(context.Context) (time.Time, error) { return time.Time{}, ErrNotOffered }

// Revive does nothing.
func (r *rocketmq) Revive(context.Context) error { return nil }

func (r *rocketmq) Stop() error { return killAll(r.node[:]) } // what it would still write is deleted

// ensure makes the topics and groups of a work that there are not yet: the
// broker refuses commits of others.
func (r *rocketmq) ensure(ctx context.Context, w Work) error {
	var topics, groups []map[string]any
	made := map[string]bool{}
	for caller := range w.Callers {
		keys := w.keys(caller)
		groups = append(groups, map[string]any{"groupName": keys[0].Group})
		for _, k := range keys {
			if !made[k.Topic] {
				made[k.Topic] = true
				topics = append(topics, map[string]any{"topicName": k.Topic, "readQueueNums": queuesPerTopic, "writeQueueNums": queuesPerTopic, "perm": 6})
			}
		}
	}
	if len(topics) > r.topics {
		if err := r.make(ctx, codeTopicList, "topicConfigList", topics[r.topics:]); err != nil {
			return fmt.Errorf("making topics: %w", err)
		}
		r.topics = len(topics)
	}
	if len(groups) > r.groups {
		if err := r.make(ctx, codeGroupList, "groupConfigList", groups[r.groups:]); err != nil {
			return fmt.Errorf("making groups: %w", err)
		}
		r.groups = len(groups)
	}
	return nil
}

func (r *rocketmq) make(ctx context.Context, code int, name string, list []map[string]any) error {
	body, err := json.Marshal(map[string]any{name: list})
	if err == nil {
		_, err = remoting.Call(ctx, local(r.port), code, nil, body)
	}
	return err
}

// rocketmqLoad is a Work on the broker.
type rocketmqLoad struct {
	work    Work
	clients []*exchange
	// requests are those of each caller; without commitOffset they ask for one.
	requests [][]map[string]string
	// next is the offset that a caller writes next.
	next []int64
}

func (r *rocketmq) Workload(ctx context.Context, w Work) (Load, error) {
	if w.Op == ReadGroup {
		return nil, ErrNotOffered // there is one of a group on one topic, by subscription
	}
	if err := r.ensure(ctx, w); err != nil {
		return nil, err
	}
	l := &rocketmqLoad{work: w, next: make([]int64, w.Callers)}
	for range clients(w) {
		x, err := dialExchange(ctx, local(r.port))
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.clients = append(l.clients, x)
	}
	begin := firstOffset()
	for i := range l.next {
		l.next[i] = begin
		var list []map[string]string
		for _, k := range w.keys(i) {
			list = append(list, map[string]string{"consumerGroup": k.Group, "topic": k.Topic, "queueId": strconv.Itoa(int(k.Queue))})
		}
		l.requests = append(l.requests, list)
	}
	if err := each(w.Callers, func(i int) error { return l.write(ctx, i) }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *rocketmqLoad) of(caller int) *exchange { return l.clients[caller%len(l.clients)] }

func (l *rocketmqLoad) Do(ctx context.Context, caller int) error {
	if l.work.Op == Write {
		return l.write(ctx, caller)
	}
	answers, err := l.of(caller).ask(ctx, codeQueryOffset, l.requests[caller][0])
	if err == nil && answers[0].Ext["offset"] == "" {
		err = errors.New("the answer has no offset")
	}
	return err
}

// write raises the offsets of a caller by requests that are answered: what a
// consumer sends every 5 s is not.
func (l *rocketmqLoad) write(ctx context.Context, caller int) error {
	l.next[caller]++
	value := strconv.FormatInt(l.next[caller], 10)
	for _, ext := range l.requests[caller] {
		ext["commitOffset"] = value
	}
	_, err := l.of(caller).ask(ctx, codeUpdateOffset, l.requests[caller]...)
	return err
}

func (l *rocketmqLoad) Close() (err error) {
	for _, x := range l.clients {
		err = errors.Join(err, x.Close())
	}
	return err
}
