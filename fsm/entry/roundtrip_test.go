package entry

import (
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark-mq/tidemark/offset"
)

// sealed builds one entry of the requests.
func sealed(t interface {
	Helper()
	Fatalf(string, ...any)
}, list ...Request) []byte {
	t.Helper()
	b := NewBuilder(testCluster, offset.FormatLevel)
	for i := range list {
		b.runs = 0 // as in an entry of an older build, which had no bound on them
		if err := b.Add(&list[i]); err != nil {
			t.Fatalf("adding request %d: %v", i, err)
		}
	}
	return b.Seal(1_700_000_000_000)
}

func TestRoundTrip(t *testing.T) {
	var d Decoder // one for all, since it reuses its memory
	rapid.Check(t, func(t *rapid.T) {
		var list []Request
		for range rapid.IntRange(0, 6).Draw(t, "requests") {
			r := genRequest(t)
			if r.Alone() {
				list = []Request{r}
				break
			}
			list = append(list, r)
		}
		data := sealed(t, list...)
		e, err := d.Decode(data)
		if err != nil {
			t.Fatalf("decoding: %v", err)
		}
		clear(data) // nothing may point into it
		if e.Level != offset.FormatLevel || e.Cluster != testCluster || e.Time != 1_700_000_000_000 || len(e.Requests) != len(list) {
			t.Fatalf("decoded %+v from %d requests", e, len(list))
		}
		for i := range list {
			if got, want := e.Requests[i], list[i]; !reflect.DeepEqual(got, want) {
				t.Fatalf("request %d is decoded as\n%#v\nand was\n%#v", i, got, want)
			}
		}
	})
}

func TestAloneAndInCompanyDecodeTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Custom(genRequest).Filter(func(r Request) bool { return !r.Alone() }).Draw(t, "request")
		before := rapid.Custom(genRequest).Filter(func(r Request) bool { return !r.Alone() }).Draw(t, "before")
		var d1, d2 Decoder
		alone, err := d1.Decode(sealed(t, r))
		if err != nil {
			t.Fatalf("decoding it alone: %v", err)
		}
		both, err := d2.Decode(sealed(t, before, r))
		if err != nil {
			t.Fatalf("decoding it in company: %v", err)
		}
		if !reflect.DeepEqual(alone.Requests[0], both.Requests[1]) {
			t.Fatalf("alone it is\n%#v\nin company\n%#v", alone.Requests[0], both.Requests[1])
		}
	})
}

func TestLenIsWhatSealGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genRequest(t)
		b := NewBuilder(clusterOf(&r), offset.FormatLevel)
		if err := b.Add(&r); err != nil {
			t.Fatalf("adding: %v", err)
		}
		if want := len(b.Seal(0)); b.Len() != want || exact(&r) != want {
			t.Fatalf("Len is %d, the exact size %d, the entry has %d bytes", b.Len(), exact(&r), want)
		}
	})
}

func TestSizeBoundsWhatARequestTakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Custom(genRequest).Filter(func(r Request) bool { return !r.Alone() }).Draw(t, "request")
		b := NewBuilder(testCluster, offset.FormatLevel)
		for i := range rapid.IntRange(0, 4).Draw(t, "before") {
			before := rapid.Custom(genRequest).Filter(func(r Request) bool { return !r.Alone() }).Draw(t, "another")
			if err := b.Add(&before); err != nil {
				t.Fatalf("adding another, %d: %v", i, err)
			}
			b.runs = 0
		}
		n := b.Len()
		if err := b.Add(&r); err != nil {
			t.Fatalf("adding: %v", err)
		}
		if bound := bound(&r); len(sealed(t, r)) > bound || b.Len()-n > bound {
			t.Fatalf("alone it takes %d bytes, in company %d, the bound is %d", len(sealed(t, r)), b.Len()-n, bound)
		}
		if r.Act == nil && Size(&r) != bound(&r) {
			t.Fatalf("the size is %d, the bound %d", Size(&r), bound(&r))
		}
	})
}

func TestRefusedRequestLeavesBuilderAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Custom(genRequest).Filter(func(r Request) bool { return !r.Alone() }).Draw(t, "first")
		last := rapid.Custom(genRequest).Filter(func(r Request) bool { return !r.Alone() }).Draw(t, "last")
		bad := genRequest(t)
		switch {
		case bad.Commits != nil:
			bad.Commits.Topics = append(bad.Commits.Topics, offset.TopicCommits{Group: "new", Topic: "new", Queues: []offset.QueueCommit{{Offset: -1}}})
		case bad.Set != nil:
			bad.Set.Key.Broker = string(make([]byte, MaxString+1))
		default:
			bad.Forget, bad.Checkpoint = "both", true
		}
		b := NewBuilder(testCluster, offset.FormatLevel)
		if err := b.Add(&first); err != nil {
			t.Fatalf("adding: %v", err)
		}
		if err := b.Add(&bad); !errors.Is(err, offset.ErrInvalid) && !errors.Is(err, offset.ErrBusy) {
			t.Fatalf("a bad request is answered %v", err)
		}
		b.runs = 0
		if err := b.Add(&last); err != nil {
			t.Fatalf("adding: %v", err)
		}
		if got, want := b.Seal(1_700_000_000_000), sealed(t, first, last); !reflect.DeepEqual(got, want) {
			t.Fatalf("the entry is\n%x\nwithout the refused request\n%x", got, want)
		}
	})
}
