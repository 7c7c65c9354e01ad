package server

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// FuzzJSON: whatever is posted is answered with a status of ours, and nothing
// panics.
func FuzzJSON(f *testing.F) {
	paths := make([]string, 0, 32)
	for path := range procedures() {
		if !strings.HasSuffix(path, "/Stream") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for i, body := range []string{
		`{}`, ``, commitJSON("g", "t", "5"), `{"keys":[{"group":"g","topic":"t"}]}`, `{"keys":[null]}`,
		`{"act":{"id":"00000000000000000000000000000001","base":"1","cluster_id":"00000000000000000000000000000009"},"targets":[{}]}`,
		`{"act":null,"scope":{"queue_id":-1,"group":"g"}}`, `{"step":9}`, `{"level":4294967295}`, `{"after":{},"limit":4294967295}`,
	} {
		f.Add(uint8(i), body)
	}
	s := New(Config{Service: newFake()})
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		path := paths[int(which)%len(paths)]
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != 200 && w.Code != 400 && w.Code != 415 && w.Code != 404 {
			t.Errorf("%s answers %q with %d %s", path, body, w.Code, w.Body)
		}
		if st := s.Stats(); st.Panics != 0 || st.Calls != 0 || st.Bytes != 0 {
			t.Fatalf("%s, %q: %+v", path, body, st)
		}
	})
}
