package store

import (
	"context"
	"os"
	"testing"
	"time"
)

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	start := time.Now()
	f, err := Probe(t.Context(), dir, StartProbing)
	must(t, err)
	if f.Syncs < 1 || f.Syncs > StartProbing.Syncs || f.P50 <= 0 || f.P50 > f.P99 || f.P99 > f.Max || time.Since(start) > 5*time.Second {
		t.Errorf("%+v in %v", f, time.Since(start))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	few := Probing{Bytes: 128 << 10, Syncs: 3, Time: time.Minute}
	if f, err := Probe(t.Context(), dir, few); err != nil || f.Syncs != 3 || f.P99 != f.Max {
		t.Errorf("three syncs give %+v, %v", f, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f, err := Probe(ctx, dir, StartProbing); err != nil || f.Syncs != 1 {
		t.Errorf("with its context ended: %+v, %v", f, err)
	}
	if _, err := Probe(t.Context(), dir+"/none", StartProbing); err == nil {
		t.Error("a folder that is not there was probed")
	}
}

func TestFreeSpace(t *testing.T) {
	free, total, err := FreeSpace(t.TempDir())
	if err != nil || free == 0 || free > total {
		t.Errorf("%d of %d, %v", free, total, err)
	}
	if _, _, err := FreeSpace("/does/not/exist"); err == nil {
		t.Error("a folder that is not there has space")
	}
}
