package contexts

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzParse: whatever the file holds, what is taken survives writing and reading,
// and the context in use is there.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"current":"prod","contexts":{"prod":{"endpoints":["n1:7411"],"ca":"/ca.crt"},"test":["t1:7411"]}}`))
	f.Add([]byte(`{"contexts":{"":["h:1"]}}`))
	f.Add([]byte(`{"current":"x","contexts":{}} {}`))
	f.Add([]byte(`{}}0`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parse(text)
		if err != nil {
			return
		}
		if _, err := c.Get(c.Current()); c.Current() != "" && err != nil {
			t.Fatalf("%q uses a context that it does not have", text)
		}
		for _, x := range c.List() {
			if err := validate(x.Name, x.Endpoints); err != nil {
				t.Fatalf("%q was taken: %v", text, err)
			}
		}
		again, err := json.Marshal(format{Current: c.Current(), Contexts: c.saved})
		if err != nil {
			t.Fatal(err)
		}
		if read, err := parse(again); err != nil || !reflect.DeepEqual(read.List(), c.List()) {
			t.Fatalf("%q read, and written again: %v", text, err)
		}
		if !json.Valid(text) {
			t.Fatalf("%q is no JSON", text)
		}
	})
}
