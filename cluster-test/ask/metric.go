package ask

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Metric reads one value without labels from the page of metrics.
func (n *Node) Metric(ctx context.Context, name string) (float64, error) {
	_, page, err := n.Page(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(page) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("%s shows no %s", n.Name, name)
}
