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
}

// Kind is a system that can be measured.
type Kind struct {
	// Title names it for people; Variant, if any, tells it from others of the name.
	Title, Variant string
	// Server is its program's name, Module the Go module that the program's
	// source is in; a program without one has to be installed.
	Server, Module string
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

// Lacking tells whether its program would have to be installed first: nothing
// here builds it.
func (k Kind) Lacking() bool {
	if k.Module != "" {
		return false
	}
	_, err := exec.LookPath(k.Server)
	return err != nil
}

// tidemarkModule is the module that tidemarkd is in.
const tidemarkModule = "github.com/tidemark-mq/tidemark"

// All are the systems by name.
var All = map[string]Kind{
	"redis":        {"Redis", "", redisServer, "", func(Programs) System { return &redisKV{} }},
	"tidemark":     {"Tidemark", "boltdb", "tidemarkd", tidemarkModule, func(p Programs) System { return &tidemark{bin: p.Tidemark, store: "boltdb"} }},
	"tidemark-wal": {"Tidemark", "wal", "tidemarkd", tidemarkModule, func(p Programs) System { return &tidemark{bin: p.Tidemark, store: "wal"} }},
	"bare":         {"bare hashicorp/raft", "boltdb", "bared", raftModule, func(p Programs) System { return &bare{bin: p.Peers, store: "boltdb"} }},
	"bare-wal":     {"bare hashicorp/raft", "wal", "bared", raftModule, func(p Programs) System { return &bare{bin: p.Peers, store: "wal"} }},
	"etcd":         {"etcd", "", "etcd", "go.etcd.io/etcd/server/v3", func(p Programs) System { return &etcd{bin: p.Peers} }},
	"nats":         {"NATS JetStream KV", "", "nats-server", natsModule, func(p Programs) System { return &natsKV{bin: p.Peers, sync: always} }},
	"nats-default": {"NATS JetStream KV", "as shipped", "nats-server", natsModule, func(p Programs) System { return &natsKV{bin: p.Peers} }},
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
