package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// book knows one token and every certificate.
type book struct {
	generation atomic.Uint64
	token      atomic.Pointer[string]
	verified   atomic.Int64
}

func (b *book) Generation() uint64 { return b.generation.Load() }

func (b *book) Token(token string) (string, error) {
	if p := b.token.Load(); p != nil && *p == token {
		return "app", nil
	}
	return "", offset.Errorf(offset.ErrDenied, "not known")
}

func (b *book) Certificate([]*x509.Certificate) (string, bool, error) {
	b.verified.Add(1)
	return "by-certificate", true, nil
}

func TestWhoCalls(t *testing.T) {
	b := &book{}
	secret := "s"
	b.token.Store(&secret)
	for _, c := range []struct {
		header string
		chain  bool
		want   string // empty: refused
	}{
		{"", false, "anonymous"},
		{"", true, "by-certificate"},
		{"Bearer s", false, "app"},
		{"bearer  s", true, "app"}, // the token is what was shown on purpose
		{"Bearer x", true, ""},     // and is not made up for
		{"Bearer ", false, ""},
		{"Bearer", false, ""},
		{"Basic s", true, ""},
		{"s", false, ""},
	} {
		s := New(Config{Callers: b})
		r := httptest.NewRequest("POST", "/", nil)
		r.RemoteAddr = "10.0.0.1:5"
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		if c.chain {
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}
		}
		p, err := s.callerOf(r).principal()
		if p.From != "10.0.0.1:5" || p.Name != c.want || errors.Is(err, offset.ErrDenied) != (c.want == "") {
			t.Errorf("%q, certificate %v: %+v, %v", c.header, c.chain, p, err)
		}
	}
}

// TestCertificatesAreVerifiedOnce for a connection, whatever comes over it.
func TestCertificatesAreVerifiedOnce(t *testing.T) {
	b := &book{}
	s := New(Config{Callers: b})
	ctx := remember(t.Context(), nil)
	for range 3 {
		r := httptest.NewRequestWithContext(ctx, "POST", "/", nil)
		r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}
		if p, err := s.callerOf(r).principal(); p.Name != "by-certificate" || err != nil {
			t.Errorf("%+v, %v", p, err)
		}
		b.generation.Add(1)
	}
	if n := b.verified.Load(); n != 1 {
		t.Errorf("verified %d times", n)
	}
}

// TestATokenTakenBackEndsItsStream: calls that come over a stream after that
// are refused, each by itself, and reported.
func TestATokenTakenBackEndsItsStream(t *testing.T) {
	b := &book{}
	secret := "s"
	b.token.Store(&secret)
	var denied []string
	s := New(Config{Service: &fake{}, Callers: b, Denied: func(from, call string, err error) {
		denied = append(denied, from+" "+call)
	}})
	p := newPipe(16)
	done := make(chan error, 1)
	go func() {
		done <- s.stream(t.Context(), p, &caller{callers: b, from: "f", authorization: "Bearer s"}, s.newHold(freeBytes), 0, func() { close(p.readEnd) }, func() { close(p.cut) })
	}()
	ask := func() offset.Code {
		p.in <- calls(fetchCall(1))
		var m *tidemarkv1.StreamResponse
		for m = <-p.out; len(m.GetReplies()) == 0; m = <-p.out {
		}
		return offset.Code(m.Replies[0].GetError().GetCode())
	}
	if code := ask(); code == offset.CodeDenied {
		t.Error("refused with its token")
	}
	b.token.Store(nil)
	if code := ask(); code == offset.CodeDenied {
		t.Error("the token was looked at for every call")
	}
	b.generation.Add(1)
	if code := ask(); code != offset.CodeDenied {
		t.Errorf("code %s with a token that was taken back", code)
	}
	close(p.in)
	<-done
	if len(denied) != 1 || denied[0] != "f OffsetService/Fetch" {
		t.Errorf("reported %q", denied)
	}
}

// TestATokenTakenBackEndsItsExport: no row comes after that.
func TestATokenTakenBackEndsItsExport(t *testing.T) {
	b, secret, f := &book{}, "s", newFake()
	b.token.Store(&secret)
	f.fill(10)
	f.before = func(context.Context, string) error {
		b.token.Store(nil)
		b.generation.Add(1)
		return nil
	}
	answer := send(New(Config{Service: f, Callers: b}), "GroupService/Export", "application/connect+json")
	if !strings.Contains(answer, "not known") || strings.Contains(answer, "states") {
		t.Error(answer)
	}
}

// send makes a call with the token "s" and an empty message, and gives what comes back.
func send(s *Server, call, kind string) string {
	body := "{}"
	if strings.HasPrefix(kind, "application/connect") {
		body = "\x00\x00\x00\x00\x02{}"
	}
	r := httptest.NewRequest("POST", apiPrefix+call, strings.NewReader(body))
	r.RemoteAddr = "10.0.0.1:5"
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Authorization", "Bearer s")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w.Body.String()
}

// once knows a token the first time alone.
type once struct{ book }

func (o *once) Generation() uint64 { return o.generation.Add(1) }

func (o *once) Token(string) (string, error) {
	if o.verified.Add(1) == 1 {
		return "app", nil
	}
	return "", offset.Errorf(offset.ErrDenied, "not known any more")
}

// TestATokenTakenBackMeanwhile: a call whose token is taken back while its body
// arrives is refused, and reported as any other.
func TestATokenTakenBackMeanwhile(t *testing.T) {
	for call, kind := range map[string]string{"ClusterService/Status": "application/json", "GroupService/Export": "application/connect+json"} {
		var denied []string
		s := New(Config{Service: &fake{}, Callers: &once{}, Denied: func(from, call string, err error) {
			denied = append(denied, from+" "+call)
		}})
		answer := send(s, call, kind)
		if !strings.Contains(answer, "not known any more") || len(denied) != 1 || denied[0] != "10.0.0.1:5 "+call {
			t.Errorf("%s: %s, reported %q", call, answer, denied)
		}
	}
}
