package server

import (
	"context"
	"io"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/frames"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// apiPrefix begins the path of every RPC.
const apiPrefix = "/tidemark.v1."

// routes wires what is served: the three services behind the checks of the
// API, and the pages.
func (s *Server) routes() http.Handler {
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(s.limits.Message),
		connect.WithCodec(proto3{}),
		connect.WithCodec(codec{name: "json"}),
		connect.WithCodec(codec{name: "json; charset=utf-8"}),
		// Nothing is decompressed, so that a small request cannot become a
		// large one, and nothing compressed.
		connect.WithCompression("gzip", nil, nil),
	}
	api := http.NewServeMux()
	api.Handle(tidemarkv1connect.NewOffsetServiceHandler(offsets{s}, options...))
	api.Handle(tidemarkv1connect.NewGroupServiceHandler(groups{s}, options...))
	api.Handle(tidemarkv1connect.NewClusterServiceHandler(cluster{s}, options...))

	pages := s.steadily(s.pages())
	checked := s.checked(connect.NewErrorWriter(options...), api)
	root := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.running.add()
		defer s.running.done()
		if r.ProtoMajor > 1 && n > s.limits.requests() {
			panic(http.ErrAbortHandler) // breaks off this request alone
		}
		if strings.HasPrefix(r.URL.Path, apiPrefix) {
			checked.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	})
	return s.recovering(root)
}

// checked bounds a request of the API before Connect sees it, and answers in
// words what Connect would answer with a bare status.
func (s *Server) checked(errorsOf *connect.ErrorWriter, next http.Handler) http.Handler {
	known := procedures()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if frames.Wanted(r) {
			s.framed(w, r)
			return
		}
		err := s.checkRequest(r)
		if !known[r.URL.Path] {
			err = offset.Errorf(offset.ErrInvalid, "there is no call %s; the page at / names what there is", quote(r.URL.Path))
		}
		d, h, who := deadlinesFor(w), s.newHold(freeBytes), s.callerOf(r)
		defer d.over()
		defer h.drop()
		if who.refusal != nil {
			w.Header().Set("Connection", "close")
		}
		streams := r.ProtoMajor > 1 && r.URL.Path == tidemarkv1connect.OffsetServiceStreamProcedure
		if !streams {
			d.body(r, s.limits.Body)
		}
		if err == nil {
			var leave func()
			leave, err = s.enter(r, who, h, streams)
			defer leave()
		}
		if err != nil {
			d.write(s.limits.Body + s.limits.Stall)
			drain(r)
			_ = errorsOf.Write(w, r, wire.ToConnectError(err)) // a caller that is gone needs no answer
			return
		}
		if streams {
			h.late = stopped(d.interrupt)
		} else {
			defer func() {
				h.drop() // nothing is held while the rest of the body is read
				drain(r)
			}()
			d.write(s.limits.Body + s.limits.ExportTimeout + s.limits.Stall)
			w = paced{w, d, s.limits.Stall}
		}
		ctx := context.WithValue(context.WithValue(r.Context(), deadlinesKey{}, d), callerKey{}, who)
		r2 := r.WithContext(context.WithValue(ctx, holdKey{}, h))
		r2.Body = metered{r.Body, h}
		next.ServeHTTP(w, r2)
	})
}

// enter admits a request before its body is read: a stream, each call of which has
// its caller checked later, or a unary one. leave gives back the place of a stream;
// h holds that of a unary request.
func (s *Server) enter(r *http.Request, who *caller, h *hold, streams bool) (leave func(), err error) {
	leave = func() {}
	if streams {
		from := withoutPort(r.RemoteAddr)
		if bound := s.overHTTP2.admit(from); bound != (limit{}) {
			s.counters.busy.Add(1)
			return leave, bound.refusal("streams over HTTP/2")
		}
		return func() { s.overHTTP2.release(from) }, nil
	}
	if _, err = s.principal(who); err == nil && r.ProtoMajor > 1 {
		h.free = 0
		err = h.expect()
	}
	return leave, err
}

// drainBytes is how much of a body that nobody wants is read.
const drainBytes = 32 << 20

// drain reads what is left of a body, within its deadline: while it is being
// written, a connection that is closed is reset, and takes the answer along.
// HTTP/2 has no such trouble; a peer that asks before it sends its body sends none.
func drain(r *http.Request) {
	if r.ProtoMajor == 1 && r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, drainBytes) // a body that ends, or breaks off, is as good
	}
}

// procedures gives the path of every RPC.
func procedures() map[string]bool {
	known := map[string]bool{}
	for _, f := range []protoreflect.FileDescriptor{
		tidemarkv1.File_tidemark_v1_offset_proto, tidemarkv1.File_tidemark_v1_group_proto, tidemarkv1.File_tidemark_v1_cluster_proto,
	} {
		for i := range f.Services().Len() {
			for methods, j := f.Services().Get(i).Methods(), 0; j < methods.Len(); j++ {
				known["/"+string(f.Services().Get(i).FullName())+"/"+string(methods.Get(j).Name())] = true
			}
		}
	}
	return known
}

// checkRequest says what is wrong with the outside of a request.
func (s *Server) checkRequest(r *http.Request) error {
	if r.Method != http.MethodPost {
		return offset.Errorf(offset.ErrInvalid, "%s is called by POST, with a JSON body; this was a %s", quote(r.URL.Path), quote(r.Method))
	}
	if r.ContentLength > int64(s.limits.Message)+envelope {
		return offset.Errorf(offset.ErrInvalid, "the request has %d bytes; at most %d are taken, so split it", r.ContentLength, s.limits.Message)
	}
	kind, _, _ := strings.Cut(strings.ToLower(r.Header.Get("Content-Type")), ";")
	switch kind = strings.TrimSpace(kind); {
	case kind == "application/json", kind == "application/proto",
		strings.HasPrefix(kind, "application/grpc"), strings.HasPrefix(kind, "application/connect+"):
		return nil
	}
	return offset.Errorf(offset.ErrInvalid, "the content type is %q; send JSON with the header Content-Type: application/json", kind)
}

// envelope is what a message of gRPC or of a stream has before it.
const envelope = 5
