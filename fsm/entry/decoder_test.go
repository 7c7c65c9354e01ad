package entry

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "level1", name+".entry"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCutEntryIsDamaged(t *testing.T) {
	for name := range goldenEntries() {
		data := golden(t, name)
		for n := range data {
			if _, err := new(Decoder).Decode(data[:n]); !errors.Is(err, offset.ErrDamaged) {
				t.Fatalf("the first %d of %d bytes of %s: %v", n, len(data), name, err)
			}
		}
	}
}

func TestBytesAfterTheEndAreDamage(t *testing.T) {
	for name := range goldenEntries() {
		if _, err := new(Decoder).Decode(append(golden(t, name), 0)); !errors.Is(err, offset.ErrDamaged) {
			t.Errorf("%s with a byte more: %v", name, err)
		}
	}
}

// hand makes an entry of the names and the bytes of n requests.
func hand(n byte, names []string, body ...byte) []byte {
	b := NewBuilder(goldenCluster, 1)
	for _, s := range names {
		b.names[tableOthers].ref(s)
	}
	data := b.Seal(0)
	data[len(data)-1] = n
	return append(data, body...)
}

func TestUnknownIsToldFromDamaged(t *testing.T) {
	level := golden(t, "commits")
	level[levelAt] = offset.FormatLevel + 1
	kind := golden(t, "commits")
	kind[kindAt] = 2
	zero := golden(t, "commits")
	zero[levelAt] = 0
	actOf := func(kind byte, rest ...byte) []byte {
		b := append([]byte{kindAct | flagSameCaller, kind}, make([]byte, 16+3)...)
		return hand(1, nil, append(b, rest...)...)
	}
	claim := append([]byte{kindAct | flagSameCaller, actTake}, make([]byte, 16+3+3)...)
	if _, err := new(Decoder).Decode(hand(1, nil, claim...)); err != nil {
		t.Fatalf("a claim by itself: %v", err)
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"level above ours":             {level, offset.ErrLevel},
		"level above ours, body cut":   {level[:levelAt+1], offset.ErrLevel},
		"kind of entry":                {kind, offset.ErrLevel},
		"kind of request":              {hand(1, nil, 0x8f), offset.ErrLevel},
		"kind 0 of request":            {hand(1, nil, 0x80), offset.ErrLevel},
		"flag on a checkpoint":         {hand(1, nil, kindCheckpoint|flagSameCaller|0x10), offset.ErrLevel},
		"kind of act":                  {actOf(7), offset.ErrLevel},
		"flag of a scope":              {actOf(actRemove, 4, 0, 0, 0, 0), offset.ErrLevel},
		"step of an import":            {actOf(actImport, 4, 0, 0, 0, 0, 0, 0, 0), offset.ErrLevel},
		"mode of an import":            {actOf(actImport, 0, 2, 0, 0, 0, 0, 0, 0), offset.ErrLevel},
		"level 0":                      {zero, offset.ErrDamaged},
		"not an entry":                 {[]byte("a snapshot, perhaps, of some other program"), offset.ErrDamaged},
		"empty":                        {nil, offset.ErrDamaged},
		"too long":                     {append(golden(t, "commits"), make([]byte, MaxEntry)...), offset.ErrDamaged},
		"raise to level 0":             {hand(1, nil, kindLevel|flagSameCaller, 0), offset.ErrDamaged},
		"forget nobody":                {hand(1, nil, kindForget|flagSameCaller, 0), offset.ErrDamaged},
		"reference outside":            {hand(1, []string{"a"}, kindForget|flagSameCaller, 2), offset.ErrDamaged},
		"claim in company":             {hand(2, nil, append([]byte{kindCheckpoint | flagSameCaller}, claim...)...), offset.ErrDamaged},
		"more requests than bytes":     {hand(2, nil, kindCheckpoint|flagSameCaller), offset.ErrDamaged},
		"more topics than bytes":       {hand(1, nil, kindCommits|flagSameCaller, 2, 0, 0), offset.ErrDamaged},
		"more commits than bytes":      {hand(1, nil, kindCommits|flagSameCaller, 1, 2<<2, 0, 0, 0, 0), offset.ErrDamaged},
		"more commits than allowed":    {hand(1, nil, append([]byte{kindCommits | flagSameCaller, 1, 0xc4, 0xb8, 0x02, 0}, make([]byte, 20_002)...)...), offset.ErrDamaged},
		"offset below 0":               {hand(1, nil, kindCommits|flagSameCaller, 1, 1<<2, 0, 0, 1), offset.ErrDamaged},
		"queue id below 0":             {hand(1, nil, kindCommits|flagSameCaller, 1, 1<<2, 0, 2, 0), offset.ErrDamaged},
		"run longer than announced":    {actOf(actReset, 1, 2<<2, 0, 0, 0, 0, 0), offset.ErrDamaged},
		"run of none":                  {actOf(actReset, 1, 0, 0, 0, 0), offset.ErrDamaged},
		"number of more than 64 bits":  {hand(1, nil, append([]byte{kindForget | flagSameCaller}, bytes.Repeat([]byte{0xff}, 11)...)...), offset.ErrDamaged},
		"name longer than allowed":     {append(hand(0, nil)[:headLen], 1, 0, 0x81, 0x04), offset.ErrDamaged},
		"length of names without them": {append(hand(0, nil)[:headLen], 0xff, 0xff, 0x3f), offset.ErrDamaged},
		"empty name":                   {append(hand(0, nil)[:headLen], 1, 0, 0, 0, 0, 0, 0), offset.ErrDamaged},
	} {
		e, err := new(Decoder).Decode(c.data)
		if !errors.Is(err, c.want) || e != nil {
			t.Errorf("%s: %v, %v; wanted %v", name, e, err, c.want)
		}
	}
}

func TestAloneInItsEntry(t *testing.T) {
	claim := Request{Act: &offset.Act{ID: goldenAct, Take: &offset.Take{Name: "g", Holder: "h"}}}
	level, checkpoint := Request{Level: 1}, Request{Checkpoint: true}
	for _, alone := range []Request{claim, level} {
		for _, pair := range [][2]Request{{alone, checkpoint}, {checkpoint, alone}, {alone, alone}} {
			b := NewBuilder(goldenCluster, 1)
			if err := b.Add(&pair[0]); err != nil {
				t.Fatal(err)
			}
			if err := b.Add(&pair[1]); !errors.Is(err, offset.ErrBusy) || b.Count() != 1 {
				t.Fatalf("%+v beside %+v: %v", pair[1], pair[0], err)
			}
			b.Reset()
			if err := b.Add(&pair[1]); err != nil {
				t.Fatalf("%+v after Reset: %v", pair[1], err)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	big := func(n int) *Request {
		c := &offset.Commits{Cluster: goldenCluster}
		for i := range n {
			c.Topics = append(c.Topics, offset.TopicCommits{Group: string(bytes.Repeat([]byte{byte(i), byte(i >> 8)}, 250)), Queues: []offset.QueueCommit{{}}})
		}
		return &Request{Commits: c}
	}
	b := NewBuilder(goldenCluster, 1)
	if err := b.Add(big(3000)); !errors.Is(err, offset.ErrInvalid) || b.Len() != headLen+tables+1 {
		t.Fatalf("a request of 1.5 MB: %v, %d bytes left behind", err, b.Len())
	}
	if Size(big(3000)) <= MaxEntry {
		t.Fatal("Size takes a request that Add refuses")
	}
	if err := b.Add(big(1500)); err != nil {
		t.Fatal(err)
	}
	n := b.Len()
	if err := b.Add(big(1499 * 2)); !errors.Is(err, offset.ErrBusy) || b.Len() != n {
		t.Fatalf("a request for which there is no room: %v, %d bytes of %d", err, b.Len(), n)
	}
	if got := Size(big(1500)); got != n {
		t.Fatalf("the size of a large request is %d, its entry has %d bytes", got, n)
	}
	b.Reset()
	for i := 0; ; i++ {
		if err := b.Add(&Request{Checkpoint: true}); err != nil {
			if !errors.Is(err, offset.ErrBusy) || i != MaxRequests {
				t.Fatalf("request %d: %v", i, err)
			}
			break
		}
	}
	if _, err := new(Decoder).Decode(b.Seal(0)); err != nil {
		t.Fatalf("a full entry: %v", err)
	}
	many := &Request{Commits: &offset.Commits{Topics: []offset.TopicCommits{{Queues: make([]offset.QueueCommit, offset.MaxCommits+1)}}}}
	if err := b.Add(many); Size(many) <= MaxEntry || err == nil {
		t.Fatalf("%d commits: %v", offset.MaxCommits+1, err)
	}
}

func TestStringsOutliveTheDecoder(t *testing.T) {
	var d Decoder
	e, err := d.Decode(golden(t, "commits"))
	if err != nil {
		t.Fatal(err)
	}
	group, from := e.Requests[0].Commits.Topics[0].Group, e.Requests[2].From
	for name := range goldenEntries() {
		if _, err := d.Decode(golden(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	if group != "g1" || from != "192.0.2.2:40002" {
		t.Fatalf("names became %q, %q", group, from)
	}
}

func TestDecoderGoesOnAfterAnError(t *testing.T) {
	var d Decoder
	data := golden(t, "commits")
	if _, err := d.Decode(data[:len(data)-1]); err == nil {
		t.Fatal("a cut entry is read")
	}
	e, err := d.Decode(data)
	if err != nil || !reflect.DeepEqual(e.Requests, goldenEntries()["commits"]) {
		t.Fatalf("after an error: %v, %+v", err, e)
	}
}
