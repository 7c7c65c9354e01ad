package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/served"
)

// TestGoldenOnARealCluster tells each story on a cluster of one with raft, disk
// and connections: it answers what the one in memory does.
func TestGoldenOnARealCluster(t *testing.T) {
	if *update {
		t.Skip("the records are being written; run the test again")
	}
	for _, st := range stories {
		if st.apart {
			continue
		}
		t.Run(st.name, func(t *testing.T) {
			r := &real{Cluster: served.Start(t, 1)}
			s := &telling{T: t, cluster: r.Client(), exec: r.tidemark}
			st.tell(s)
			want, got := normal(readFile(t, goldenFile(st.name))), normal(s.record.String())
			if got != want {
				t.Errorf("a real cluster answers something else\n%s", firstDifference(want, got))
			}
		})
	}
}

// unstable are the columns of tables, and what precedes numbers in text, that
// differ from cluster to cluster: indexes, epochs, times, ages and random ids.
var (
	unstableColumns = []string{"EPOCH", "INDEX", "CHANGED", "AGE", "CLAIM"}
	unstableText    = []*regexp.Regexp{
		regexp.MustCompile(`()` + randomID.String()),
		regexp.MustCompile(`("?(?:index|epoch|claim|lastAct|newestAct|changed|age|idle|actId|actIndex|id|cluster|seen)"?: )"?[0-9a-zA-Z:.+-]+"?`),
		regexp.MustCompile(`((?:index|act|expect-index) )\d+`),
		regexp.MustCompile(`()\b\d{4}-\d\d-\d\dT[0-9:.]+Z`),
		regexp.MustCompile(`()\b(?:\d+[dhms])+\b`),
	}
	blanks = regexp.MustCompile(` {2,}`)
)

// normal takes out of a record what differs from cluster to cluster.
func normal(record string) string {
	lines := strings.Split(record, "\n")
	var header []string
	for i, line := range lines {
		cells := blanks.Split(line, -1)
		switch {
		case len(cells) > 1 && strings.ToUpper(line) == line && !strings.HasPrefix(line, "$"):
			header = cells
		case len(cells) < len(header)-1:
			header = nil
		default:
			for j := range cells {
				if j < len(header) && slices.Contains(unstableColumns, header[j]) && cells[j] != "-" {
					cells[j] = "~"
				}
			}
		}
		line = strings.Join(cells, "  ")
		for _, x := range unstableText {
			line = x.ReplaceAllString(line, "${1}~")
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
