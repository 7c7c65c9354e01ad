// Command bared is one node of the bare raft library, which bench measures
// Tidemark against.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/bench/bareraft"
)

type flags struct {
	Dir    string   `help:"Folder of its log." required:"" type:"path"`
	Store  string   `help:"How the log is kept." enum:"boltdb,wal" default:"boltdb"`
	Listen string   `help:"Address for clients." required:""`
	Peer   string   `help:"Address for the other nodes." required:""`
	Peers  []string `help:"Addresses of all nodes." required:""`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Description("A node of hashicorp/raft and nothing else, for comparisons."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bareraft.Run(ctx, bareraft.Config(f)); err != nil {
		fmt.Fprintln(os.Stderr, "bared:", err)
		os.Exit(1)
	}
}
