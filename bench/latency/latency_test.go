package latency

import (
	"testing"
	"time"
)

func TestQuantiles(t *testing.T) {
	var s Samples
	for i := 100; i > 0; i-- {
		s.Add(time.Duration(i) * time.Millisecond)
	}
	got := s.Take()
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 50, 0.99: 99, 0.995: 100, 1: 100} {
		if v := got.Of(q); v != want*time.Millisecond {
			t.Errorf("quantile %v of 1 to 100 ms is %v", q, v)
		}
	}
	if n := len(s.Take()); n != 0 {
		t.Errorf("%d samples are left after Take", n)
	}
	if v := (Sorted)(nil).Of(0.5); v != 0 {
		t.Errorf("the median of nothing is %v", v)
	}
}

func TestRoundAndMedian(t *testing.T) {
	for in, want := range map[time.Duration]string{1234567: "1.23ms", 999: "999ns", 0: "0s", 61_234_567_890: "1m1.2s"} {
		if got := Round(in).String(); got != want {
			t.Errorf("%d rounds to %s, want %s", in, got, want)
		}
	}
	if got := Median([]float64{4, 3, 1, 2}); got != 2.5 {
		t.Errorf("of four: %v", got)
	}
	if got := Median([]float64{3, 1, 2}); got != 2 {
		t.Errorf("the median of 3, 1, 2 is %v", got)
	}
}
