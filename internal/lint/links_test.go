package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// link is a link of Markdown; its target is the first group.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks: what the pages link to within the repository is there.
func TestLinks(t *testing.T) {
	found := 0
	for _, name := range tracked(t) {
		if filepath.Ext(name) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(read(t, name)), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			found++
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(name), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, target)
			}
		}
	}
	if found == 0 {
		t.Error("no link found; the pattern is wrong")
	}
}
