package systems

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"golang.org/x/sync/errgroup"
)

// offsetsTopic is where brokers keep what groups commit.
const offsetsTopic = "__consumer_offsets"

// kafka is three Kafka brokers, each a controller too, and their group
// coordinators. A group is coordinated by the broker that leads its part of the
// offsets topic.
type kafka struct {
	// jars is the folder of its jars.
	jars string
	// synced has each append be on the disk before it is answered.
	synced bool

	dir              string
	nodes            [Nodes]process
	client, election [Nodes]int
	killed           int
	// topics is how many have been made.
	topics int
}

func (k *kafka) Durability() Durability {
	d := Durability{Write: "in memory on 2 of 3, NOT synced", Read: "NOT linearizable: of the coordinator"}
	if k.synced {
		d.Write = "log.flush.interval.messages=1: synced on 2 of 3"
	}
	return d
}

func (k *kafka) Batches() []Work {
	return []Work{
		{Op: Write, Callers: 16, Batch: 100}, {Op: Write, Callers: 8, Batch: mostPartitions},
		{Op: Write, Callers: 16, Batch: mostPartitions}, {Op: Write, Callers: 32, Batch: mostPartitions},
	}
}

func (k *kafka) Start(ctx context.Context, dir string) error {
	list, err := freePorts(2 * Nodes)
	if err != nil {
		return err
	}
	k.dir = dir
	copy(k.client[:], list[:Nodes])
	copy(k.election[:], list[Nodes:])
	var all errgroup.Group
	for i := range k.nodes {
		all.Go(func() error { return k.format(ctx, i) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	for i := range k.nodes {
		if err := k.start(i); err != nil {
			return err
		}
	}
	return k.ready(ctx)
}

// config is the file that a broker is configured by.
func (k *kafka) config(i int) string { return filepath.Join(k.dir, fmt.Sprintf("n%d.properties", i+1)) }

// settings are names, addresses and folders, how many must have a write, and
// when to sync; the rest is as shipped.
func (k *kafka) settings(i int) string {
	var voters []string
	for n, port := range k.election {
		voters = append(voters, fmt.Sprintf("%d@%s", n+1, local(port)))
	}
	list := []string{
		"process.roles=broker,controller", fmt.Sprintf("node.id=%d", i+1), "controller.quorum.voters=" + strings.Join(voters, ","),
		fmt.Sprintf("listeners=PLAINTEXT://%s,CONTROLLER://%s", local(k.client[i]), local(k.election[i])),
		"advertised.listeners=PLAINTEXT://" + local(k.client[i]), "controller.listener.names=CONTROLLER",
		"log.dirs=" + filepath.ToSlash(filepath.Join(k.dir, fmt.Sprintf("n%d", i+1))),
		"offsets.topic.replication.factor=3", "min.insync.replicas=2",
	}
	if k.synced {
		list = append(list, "log.flush.interval.messages=1")
	}
	return strings.Join(append(list, ""), "\n")
}

// format writes a broker's configuration, and the meta data that it starts from.
func (k *kafka) format(ctx context.Context, i int) error {
	if err := os.WriteFile(k.config(i), []byte(k.settings(i)), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	args := classOf(k.jars, "kafka.tools.StorageTool", "format", "--cluster-id", "AAAAAAAAAAAAAAAAAAAAAQ", "--config", k.config(i))
	if said, err := exec.CommandContext(ctx, java, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("formatting the folder of broker %d: %w: %.500s", i+1, err, said)
	}
	return nil
}

func (k *kafka) start(i int) error {
	options := jvm("1g", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true",
		"-Dorg.apache.logging.log4j.level=WARN")
	return k.nodes[i].startJava(k.dir, fmt.Sprintf("n%d", i+1), options, classOf(k.jars, "kafka.Kafka", k.config(i)))
}

// ready waits until all brokers have all of the offsets topic.
func (k *kafka) ready(ctx context.Context) error {
	c, err := k.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	return await(ctx, k.nodes[:], func(ctx context.Context) error {
		if _, err := k.coordinator(ctx, c, "any"); err != nil { // the first question makes the topic
			return err
		}
		return whole(ctx, c)
	})
}

// whole asks whether each part of the offsets topic has a leader and is in sync
// on all brokers.
func whole(ctx context.Context, c *kgo.Client) error {
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(offsetsTopic)
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = append(request.Topics, topic)
	answer, err := request.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	if len(answer.Topics) == 0 || len(answer.Topics[0].Partitions) == 0 {
		return errors.New("there is no offsets topic yet")
	}
	for _, p := range answer.Topics[0].Partitions {
		if p.ErrorCode != 0 || p.Leader < 0 || len(p.ISR) < Nodes {
			return fmt.Errorf("part %d of the offsets topic is in sync on %v of %v, led by %d", p.Partition, p.ISR, p.Replicas, p.Leader)
		}
	}
	return nil
}

// byName is the version of requests up to which topics go by their names, and
// not by numbers that a client would have to ask for.
const byName = 9

func (k *kafka) connect() (*kgo.Client, error) {
	versions := kversion.V4_1_0()
	versions.SetMaxKeyVersion(int16(kmsg.OffsetCommit), byName)
	versions.SetMaxKeyVersion(int16(kmsg.OffsetFetch), byName)
	return kgo.NewClient(kgo.SeedBrokers(locals(k.client)...), kgo.MaxVersions(versions))
}

// coordinator asks which broker coordinates a group, from 0.
func (k *kafka) coordinator(ctx context.Context, c *kgo.Client, group string) (int, error) {
	request := kmsg.NewPtrFindCoordinatorRequest()
	request.CoordinatorKeys = []string{group}
	answer, err := request.RequestWith(ctx, c)
	if err != nil {
		return 0, err
	}
	if len(answer.Coordinators) != 1 {
		return 0, fmt.Errorf("%d brokers coordinate one group", len(answer.Coordinators))
	}
	found := answer.Coordinators[0]
	if err := kerr.ErrorForCode(found.ErrorCode); err != nil {
		return 0, err
	}
	if found.NodeID < 1 || found.NodeID > Nodes {
		return 0, fmt.Errorf("the coordinator is broker %d, which there is not", found.NodeID)
	}
	return int(found.NodeID) - 1, nil
}

// Kill ends the coordinator of the group that all have in a Work of one group.
func (k *kafka) Kill(ctx context.Context) (time.Time, error) {
	c, err := k.connect()
	if err != nil {
		return time.Time{}, err
	}
	defer c.Close()
	group := Work{Batch: 1}.keys(0)[0].Group
	err = await(ctx, k.nodes[:], func(ctx context.Context) (err error) {
		k.killed, err = k.coordinator(ctx, c, group)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	return k.nodes[k.killed].kill()
}

func (k *kafka) Revive(ctx context.Context) error {
	if err := k.start(k.killed); err != nil {
		return err
	}
	return k.ready(ctx)
}

// Stop does not let the brokers hand over to one another, which the last two
// could not.
func (k *kafka) Stop() error { return killAll(k.nodes[:]) }
