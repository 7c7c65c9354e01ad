package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/tidemark-mq/tidemark/offset"
	pb "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

func TestErrorsKeepWhatErrorsIsTellsApart(t *testing.T) {
	for code := offset.CodeInvalid; code <= offset.CodeUnreachable; code++ {
		sentinel := code.Err()
		for name, err := range map[string]error{
			"bare":    sentinel,
			"text":    offset.Errorf(sentinel, "why"),
			"wrapped": fmt.Errorf("doing it: %w", offset.Errorf(sentinel, "why")),
			"leader":  &offset.Error{Err: sentinel, Text: "why", Leader: "n1:7411"},
		} {
			for way, got := range map[string]error{"message": FromError(ToError(err)), "connect": FromConnectError(ToConnectError(err))} {
				if !errors.Is(got, sentinel) || offset.CodeOf(got) != code {
					t.Errorf("%s over %s: %v, want %v", name, way, got, sentinel)
				}
				var e *offset.Error
				if !errors.As(got, &e) || (e.Leader != "") != (name == "leader") {
					t.Errorf("%s over %s: leader of %+v", name, way, e)
				}
				if strings.Count(got.Error(), sentinel.Error()) != 1 && name != "wrapped" {
					t.Errorf("%s over %s says it twice: %q", name, way, got)
				}
				if (name == "bare") == strings.Contains(got.Error(), "why") {
					t.Errorf("%s over %s: %q", name, way, got)
				}
			}
		}
	}
}

func TestEveryCodeHasOneOfConnect(t *testing.T) {
	for code := offset.CodeInvalid; code.Err() != offset.ErrOutcomeUnknown || code == offset.CodeOutcomeUnknown; code++ {
		if _, ok := connectCodes[code]; !ok {
			t.Errorf("code %d (%v) has none", code, code.Err())
		}
	}
}

func TestErrorsOfNoSentinelAreUnknown(t *testing.T) {
	for _, err := range []error{io.ErrUnexpectedEOF, context.DeadlineExceeded, errors.New("x")} {
		if got := FromError(ToError(err)); !errors.Is(got, offset.ErrOutcomeUnknown) || !strings.Contains(got.Error(), err.Error()) {
			t.Errorf("%v became %v", err, got)
		}
	}
	for _, code := range []uint32{0, 99, 256 + 1} {
		if got := FromError(&pb.Error{Code: code}); !errors.Is(got, offset.ErrOutcomeUnknown) {
			t.Errorf("code %d: %v", code, got)
		}
	}
	if FromError(nil) != nil || FromConnectError(nil) != nil {
		t.Error("no error became one")
	}
}

func TestHostileErrorText(t *testing.T) {
	got := FromError(&pb.Error{Code: 1, Text: "a\nERROR forged\x1b[2J" + strings.Repeat("é", maxText), Leader: "n1:7411\n"})
	if strings.ContainsAny(got.Error(), "\n\x1b") || len(got.Error()) > maxText+100 {
		t.Errorf("text of %d bytes: %.60q", len(got.Error()), got)
	}
	var e *offset.Error
	if errors.As(got, &e); e.Leader != "" {
		t.Errorf("leader %q", e.Leader)
	}
}

// What errors of Connect's own mean, over a real server.
func TestConnectErrorsOverHTTP(t *testing.T) {
	var current atomic.Pointer[error] // nil: never answers
	mux := http.NewServeMux()
	mux.Handle("/s/m", connect.NewUnaryHandler("/s/m", func(ctx context.Context, _ *connect.Request[emptypb.Empty]) (*connect.Response[emptypb.Empty], error) {
		if fail := *current.Load(); fail != nil {
			return nil, fail
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	server := httptest.NewServer(mux)
	defer server.Close()
	call := func(path string, wait time.Duration, opts ...connect.ClientOption) error {
		c := connect.NewClient[emptypb.Empty, emptypb.Empty](server.Client(), server.URL+path, opts...)
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		_, err := c.CallUnary(ctx, connect.NewRequest(&emptypb.Empty{}))
		return FromConnectError(err)
	}
	for _, tt := range []struct {
		name string
		path string
		fail error
		want error
	}{
		{"ours", "/s/m", ToConnectError(&offset.Error{Err: offset.ErrNotLeader, Leader: "n2:7411"}), offset.ErrNotLeader},
		{"deadline", "/s/m", nil, offset.ErrOutcomeUnknown},
		{"no such call", "/s/other", nil, offset.ErrInvalid},
		{"malformed, says Connect", "/s/m", connect.NewError(connect.CodeInvalidArgument, errors.New("x")), offset.ErrInvalid},
		{"denied by something between", "/s/m", connect.NewError(connect.CodePermissionDenied, errors.New("x")), offset.ErrDenied},
		{"unavailable, says something between", "/s/m", connect.NewError(connect.CodeUnavailable, errors.New("x")), offset.ErrOutcomeUnknown},
		{"a bug over there", "/s/m", errors.New("boom"), offset.ErrOutcomeUnknown},
	} {
		for proto, opts := range map[string][]connect.ClientOption{"connect": nil, "json": {connect.WithProtoJSON()}, "grpc-web": {connect.WithGRPCWeb()}} {
			current.Store(&tt.fail)
			wait := time.Minute
			if tt.name == "deadline" {
				wait = 100 * time.Millisecond
			}
			err := call(tt.path, wait, opts...)
			if !errors.Is(err, tt.want) {
				t.Errorf("%s over %s: %v, want %v", tt.name, proto, err, tt.want)
			}
			if e := (*offset.Error)(nil); tt.name == "ours" && (!errors.As(err, &e) || e.Leader != "n2:7411") {
				t.Errorf("over %s the leader is lost: %v", proto, err)
			}
		}
	}
	server.Close()
	if err := call("/s/m", time.Minute); !errors.Is(err, offset.ErrOutcomeUnknown) {
		t.Errorf("nobody there: %v; whether it was sent is the caller's to know", err)
	}
}

// A sentinel that travels inside the cause must not make a broken connection
// look like a refusal.
func TestSentinelInTheCauseDoesNotWin(t *testing.T) {
	err := FromConnectError(connect.NewError(connect.CodeUnavailable, fmt.Errorf("dial: %w", offset.ErrDenied)))
	if offset.OutcomeOf(err) != offset.Unknown || !strings.Contains(err.Error(), "not permitted") {
		t.Errorf("%v", err)
	}
}

func TestTimeouts(t *testing.T) {
	if got := ToTimeout(context.Background()); got != 0 {
		t.Errorf("without a deadline: %d", got)
	}
	for _, tt := range []struct {
		left        time.Duration
		least, most uint32
	}{{-time.Second, 1, 1}, {10 * time.Microsecond, 1, 1}, {time.Second, 900, 1000}, {math100years, 1<<32 - 1, 1<<32 - 1}} {
		ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(tt.left))
		if got := ToTimeout(ctx); got < tt.least || got > tt.most {
			t.Errorf("%v left: %d", tt.left, got)
		}
		cancel()
	}
	for ms, want := range map[uint32]time.Duration{0: 5 * time.Second, 250: 250 * time.Millisecond, 1<<32 - 1: MaxTimeout} {
		ctx, cancel := FromTimeout(context.Background(), ms, 5*time.Second)
		at, _ := ctx.Deadline()
		if left := time.Until(at); left > want || left < want-time.Second {
			t.Errorf("%d ms became %v", ms, left)
		}
		cancel()
	}
}

const math100years = 100 * 365 * 24 * time.Hour
