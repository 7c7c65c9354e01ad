package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// rows gives the cells of the table under the given head.
func rows(t *testing.T, page, head string) (table [][]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), head+"\n")
	if !ok {
		t.Fatalf("%s has no table with the head %s", page, head)
	}
	for i, line := range strings.Split(rest, "\n") {
		if i == 0 {
			continue // the line under the head
		}
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells []string
		for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		table = append(table, cells)
	}
	return table
}

// The page of errors and the table in code say the same.
func TestErrorsPageAgreesWithTheTable(t *testing.T) {
	table := rows(t, "../../docs/errors.md", "| number | name | HTTP | again? | outcome | meaning | what to do |")
	codes := offset.Codes()
	if len(table) != len(codes) {
		t.Fatalf("the page has %d errors, the table %d", len(table), len(codes))
	}
	again := map[bool]string{true: "yes", false: "no"}
	outcome := map[offset.Outcome]string{offset.NotDone: "not done", offset.Unknown: "unknown"}
	for i, c := range codes {
		want := []string{fmt.Sprint(uint8(c)), c.String(), fmt.Sprint(httpStatus(c)), again[offset.Retriable(c.Err())], outcome[offset.OutcomeOf(c.Err())]}
		for j, w := range want {
			if table[i][j] != w {
				t.Errorf("%s: the page has %q in column %d, the code %q", c, table[i][j], j+1, w)
			}
		}
		if len(table[i]) != 7 || table[i][5] == "" || table[i][6] == "" {
			t.Errorf("%s: the page lacks its meaning or what to do", c)
		}
	}
}

// httpStatus gives what JSON callers get for a code.
func httpStatus(c offset.Code) int {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("Content-Type", "application/json")
	_ = connect.NewErrorWriter().Write(w, r, wire.ToConnectError(c.Err()))
	return w.Code
}
