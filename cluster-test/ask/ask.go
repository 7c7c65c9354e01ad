// Package ask asks one node by itself over its API, without the client
// library: no other node is tried, and nothing is sent again.
package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// Node is one node to ask. Its methods may be called from any goroutine.
type Node struct {
	// Name is for messages, Addr the address of its API.
	Name, Addr string

	http *http.Client
}

// New returns the node at addr, reached by dial (nil: TCP), each call on a
// connection of its own.
func New(name, addr string, dial func(ctx context.Context, addr string) (net.Conn, error)) *Node {
	t := &http.Transport{DisableKeepAlives: true}
	if dial != nil {
		t.DialContext = func(ctx context.Context, _, addr string) (net.Conn, error) { return dial(ctx, addr) }
	}
	return &Node{Name: name, Addr: addr, http: &http.Client{Transport: t}}
}

func (n *Node) url() string { return "http://" + n.Addr }

// left is what remains of ctx in milliseconds, for the server to know.
func left(ctx context.Context) uint32 {
	end, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return uint32(max(time.Until(end).Milliseconds(), 1))
}

// Fetch reads keys through the binary protocol.
func (n *Node) Fetch(ctx context.Context, at offset.ReadAt, keys ...offset.Key) ([]offset.KeyState, offset.Meta, error) {
	r := wire.ToFetchRequest(&offset.Fetch{At: at, Keys: keys}, left(ctx))
	a, err := tidemarkv1connect.NewOffsetServiceClient(n.http, n.url()).Fetch(ctx, connect.NewRequest(r))
	if err != nil {
		return nil, offset.Meta{}, wire.FromConnectError(err)
	}
	return wire.FromFetchResponse(a.Msg, len(keys))
}

// FetchJSON reads keys as curl does.
func (n *Node) FetchJSON(ctx context.Context, at offset.ReadAt, keys ...offset.Key) ([]offset.KeyState, offset.Meta, error) {
	r := wire.ToFetchRequest(&offset.Fetch{At: at, Keys: keys}, left(ctx))
	c := tidemarkv1connect.NewOffsetServiceClient(n.http, n.url(), connect.WithProtoJSON())
	a, err := c.Fetch(ctx, connect.NewRequest(r))
	if err != nil {
		return nil, offset.Meta{}, wire.FromConnectError(err)
	}
	return wire.FromFetchResponse(a.Msg, len(keys))
}

// Commit commits, with verdicts in the order of the request.
func (n *Node) Commit(ctx context.Context, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	a, err := tidemarkv1connect.NewOffsetServiceClient(n.http, n.url()).Commit(ctx, connect.NewRequest(wire.ToCommitRequest(c, left(ctx))))
	if err != nil {
		return nil, offset.Meta{}, wire.FromConnectError(err)
	}
	return wire.FromCommitResponse(a.Msg, c.Count())
}

// Status is how the node sees itself and the cluster.
func (n *Node) Status(ctx context.Context) (offset.Status, error) {
	a, err := tidemarkv1connect.NewClusterServiceClient(n.http, n.url()).Status(ctx, connect.NewRequest(&tidemarkv1.StatusRequest{}))
	if err != nil {
		return offset.Status{}, wire.FromConnectError(err)
	}
	return wire.FromStatusResponse(a.Msg)
}

// Post sends a JSON body to a method ("OffsetService/Commit") and returns the
// HTTP status and the answer decoded; what curl alone would do.
func (n *Node) Post(ctx context.Context, method, body string) (status int, answer map[string]any, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url()+"/tidemark.v1."+method, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := n.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return res.StatusCode, nil, fmt.Errorf("the answer of %s to %s is no JSON: %w", n.Name, method, err)
	}
	return res.StatusCode, answer, nil
}

// Page gets a page such as /readyz: its status and its text.
func (n *Node) Page(ctx context.Context, path string) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url()+path, nil)
	if err != nil {
		return 0, "", err
	}
	res, err := n.http.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}
