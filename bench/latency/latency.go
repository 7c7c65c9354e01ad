// Package latency keeps how long each of many operations took, and tells their
// quantiles exactly. It takes 8 bytes an operation.
package latency

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Samples are durations, noted by any number of goroutines. The zero value is
// ready.
type Samples struct {
	mu   sync.Mutex
	list []time.Duration
}

// Add notes one operation.
func (s *Samples) Add(d time.Duration) {
	s.mu.Lock()
	s.list = append(s.list, d)
	s.mu.Unlock()
}

// Take gives what was noted so far, and starts anew.
func (s *Samples) Take() Sorted {
	s.mu.Lock()
	list := s.list
	s.list = nil
	s.mu.Unlock()
	slices.Sort(list)
	return list
}

// Sorted are durations in ascending order.
type Sorted []time.Duration

// Of gives the quantile q, from 0 (the least) to 1 (the most): the least
// duration that at least that part of all do not exceed. It is 0 without any.
func (s Sorted) Of(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	i := int(q*float64(len(s))+0.999999) - 1
	return s[min(max(i, 0), len(s)-1)]
}

// String gives count, p50, p99 and the most.
func (s Sorted) String() string {
	return fmt.Sprintf("n %d, p50 %s, p99 %s, max %s", len(s), Round(s.Of(0.5)), Round(s.Of(0.99)), Round(s.Of(1)))
}

// Round gives a duration with about three digits.
func Round(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

// Median is the middle of values, between two the mean of both. It is 0 of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	list := slices.Sorted(slices.Values(values))
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}
