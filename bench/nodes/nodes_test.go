package nodes

import (
	"maps"
	"testing"
)

func TestParse(t *testing.T) {
	got := parse([]byte("# HELP a b 1\n# TYPE a gauge\na 1.5e+06\nb_total 3\nc{quantile=\"0.5\"} 7\nc_sum 9\nd NaNs\n"))
	want := map[string]float64{"a": 1.5e6, "b_total": 3, "c_sum": 9}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAddresses(t *testing.T) {
	c := &Cluster{Port: 8000}
	if c.API("n3") != "127.0.0.1:8020" || c.Ops("n2") != "127.0.0.1:9010" || len(c.Endpoints()) != 3 {
		t.Errorf("addresses are %s, %s, %v", c.API("n3"), c.Ops("n2"), c.Endpoints())
	}
}
