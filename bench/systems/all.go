package systems

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// Programs are the folders of the built servers.
type Programs struct {
	// Tidemark holds tidemarkd, Peers the servers of the others.
	Tidemark string `json:"tidemark"`
	Peers    string `json:"peers"`
	// Jars holds the jars of a system that is a set of them.
	Jars string `json:"jars,omitempty"`
}

// Kind is a system that can be measured.
type Kind struct {
	// Title names it for people; Variant, if any, tells it from others of the name.
	Title, Variant string
	// Server is its program's name, Module the Go module that the program's
	// source is in; a program without one has to be installed.
	Server, Module string
	// Set is the set of jars that a Java server is (javaparts.Set), and Jar which
	// of them is its own, without the version. Both are empty of others.
	Set, Jar string
	// New makes one that is not started.
	New func(Programs) System
}

// Titled is the title with a version, and the variant.
func (k Kind) Titled(version string) string {
	text := strings.TrimSpace(k.Title + " " + version)
	if k.Variant != "" {
		text += ", " + k.Variant
	}
	return text
}

// Ours tells whether it is Tidemark.
func (k Kind) Ours() bool { return k.Module == tidemarkModule }

// Lacking names a program that would have to be installed first, since nothing
// here builds it; it is empty if there is none.
func (k Kind) Lacking() string {
	var needed []string
	switch {
	case k.Set != "":
		needed = []string{k.Server, "mvn"} // the latter fetches the jars
	case k.Module == "":
		needed = []string{k.Server}
	}
	for _, program := range needed {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	return ""
}

// tidemarkModule is the module that tidemarkd is in.
const tidemarkModule = "github.com/tidemark-mq/tidemark"

// All are the systems by name.
var All = map[string]Kind{
	"redis": {Title: "Redis", Server: redisServer, New: func(Programs) System { return &redisKV{} }},
	"tidemark": {Title: "Tidemark", Variant: "boltdb", Server: "tidemarkd", Module: tidemarkModule,
		New: func(p Programs) System { return &tidemark{bin: p.Tidemark, store: "boltdb"} }},
	"tidemark-wal": {Title: "Tidemark", Variant: "wal", Server: "tidemarkd", Module: tidemarkModule,
		New: func(p Programs) System { return &tidemark{bin: p.Tidemark, store: "wal"} }},
	"bare": {Title: "bare hashicorp/raft", Variant: "boltdb", Server: "bared", Module: raftModule,
		New: func(p Programs) System { return &bare{bin: p.Peers, store: "boltdb"} }},
	"bare-wal": {Title: "bare hashicorp/raft", Variant: "wal", Server: "bared", Module: raftModule,
		New: func(p Programs) System { return &bare{bin: p.Peers, store: "wal"} }},
	"etcd": {Title: "etcd", Server: "etcd", Module: "go.etcd.io/etcd/server/v3",
		New: func(p Programs) System { return &etcd{bin: p.Peers} }},
	"nats": {Title: "NATS JetStream KV", Server: "nats-server", Module: natsModule,
		New: func(p Programs) System { return &natsKV{bin: p.Peers, sync: always} }},
	"nats-default": {Title: "NATS JetStream KV", Variant: "as shipped", Server: "nats-server", Module: natsModule,
		New: func(p Programs) System { return &natsKV{bin: p.Peers} }},
	"rocketmq": {Title: "RocketMQ broker", Variant: "one, as shipped", Server: java, Set: "rocketmq5", Jar: "rocketmq-broker",
		New: func(p Programs) System { return &rocketmq{jars: p.Jars} }},
	"kafka": {Title: "Kafka group coordinator", Server: java, Set: "kafka", Jar: "kafka_2.13",
		New: func(p Programs) System { return &kafka{jars: p.Jars, synced: true} }},
	"kafka-default": {Title: "Kafka group coordinator", Variant: "as shipped", Server: java, Set: "kafka", Jar: "kafka_2.13",
		New: func(p Programs) System { return &kafka{jars: p.Jars} }},
}

// Named makes a system.
func Named(name string, p Programs) (System, error) {
	kind, err := KindOf(name)
	if err != nil {
		return nil, err
	}
	return kind.New(p), nil
}

// KindOf is the kind of a name.
func KindOf(name string) (Kind, error) {
	kind, ok := All[name]
	if !ok {
		return kind, fmt.Errorf("no system is called %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(All)), ", "))
	}
	return kind, nil
}
