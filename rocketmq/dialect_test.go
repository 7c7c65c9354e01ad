package rocketmq

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestStandardJSONOfTheDialect(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                            `{}`,
		`{0:"a",-1:{2:3} , 4 :[{5:6}]}`: `{"0":"a","-1":{"2":3} , "4" :[{"5":6}]}`,
		`{{"q":1,"t":"a\"}{"}:2}`:       `{"{\"q\":1,\"t\":\"a\\\"}{\"}":2}`,
		`{"{0:1":"}{","a":[1,2,{}]}`:    `{"{0:1":"}{","a":[1,2,{}]}`,
		` [1, 2] `:                      ` [1, 2] `,
		`"x`:                            ``, `{12`: ``, `{{"a":{}}:1}`: ``, `{{"a":"\`: ``,
		strings.Repeat("[", maxNesting+1): ``,
	} {
		got, err := standard([]byte(in))
		if want == "" {
			if !errors.Is(err, offset.ErrDamaged) {
				t.Errorf("%s: %s, %v; want it refused", in, got, err)
			}
			continue
		}
		if err != nil || string(got) != want || !json.Valid(got) {
			t.Errorf("%s: %s, %v\nwant %s", in, got, err, want)
		}
	}
}

// TestC24TablesOfQueues: bodies whose keys are queues, in any layout, are read
// by their structure; apache/rocketmq-client-go#759, #956.
func TestC24TablesOfQueues(t *testing.T) {
	read := func(b []byte) (map[string]int64, error) {
		var table struct {
			Offsets map[string]int64 `json:"offsetTable"`
		}
		if err := unmarshal(b, &table); err != nil {
			return nil, err
		}
		list := map[string]int64{}
		for key, n := range table.Offsets {
			var q struct {
				Broker string `json:"brokerName"`
				Topic  string `json:"topic"`
				ID     int32  `json:"queueId"`
			}
			if err := json.Unmarshal([]byte(key), &q); err != nil {
				return nil, err
			}
			list[fmt.Sprintf("%s/%s/%d", q.Topic, q.Broker, q.ID)] = n
		}
		return list, nil
	}
	two := map[string]int64{"moss/bk-north/0": 9420, "moss/bk-north/1": 9184}
	for name, want := range map[string]map[string]int64{"fastjson": two, "fastjson-reordered": two, "empty": {}, "null": {}, "gson": nil} {
		b, err := os.ReadFile("testdata/C24." + name + "-body.json")
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(b)
		if (err != nil) != (want == nil) || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
		}
		b = []byte(strings.TrimRight(string(b), "\n"))
		for n := range len(b) {
			if got, err := read(b[:n]); err == nil {
				t.Errorf("%d bytes of %s are %v", n, name, got)
			}
		}
	}
}

// FuzzDialect: making JSON of a body never fails badly, changes no JSON, and
// is bounded in size.
func FuzzDialect(f *testing.F) {
	names, err := filepath.Glob("testdata/C24.*")
	if err != nil || len(names) == 0 {
		f.Fatal("no fixtures")
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"brokerAddrTable":{"b":{"brokerAddrs":{0:"h:1",-2:"x"}}}}`))
	f.Add([]byte(strings.Repeat("{0:", 70)))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := standard(in)
		if err != nil {
			if !errors.Is(err, offset.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if len(out) > 3*len(in) {
			t.Fatalf("%d bytes became %d", len(in), len(out))
		}
		if json.Valid(in) && !slices.Equal(in, out) {
			t.Fatalf("JSON %q became %q", in, out)
		}
	})
}
