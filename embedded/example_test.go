package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/embedded"
	"github.com/tidemark-mq/tidemark/offset"
)

// A program that runs twice over one folder.
func ExampleOpen() {
	base, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(base)
	ctx, mq := context.Background(), offset.MessageQueue{Topic: "orders"}
	run := func() {
		n, err := embedded.Open(ctx, filepath.Join(base, "offsets"))
		if err != nil {
			panic(err)
		}
		defer n.Close()
		store, err := client.NewRemoteStore(n.Client(), "billing")
		if err != nil {
			panic(err)
		}
		next, err := store.ReadOffset(ctx, mq, client.ReadFromStore)
		fmt.Println("was at", next, errors.Is(err, offset.ErrNoOffset))
		store.UpdateOffset(mq, next+10, true)
		fmt.Println("persisted", store.Close(ctx))
	}
	run()
	run()
	// Output:
	// was at 0 true
	// persisted <nil>
	// was at 10 false
	// persisted <nil>
}
