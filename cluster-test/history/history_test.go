package history

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestShort is a short round without and one with faults, inside this process.
func TestShort(t *testing.T) {
	r, err := Run(t, Config{Duration: 10 * time.Second, Say: t.Logf})
	t.Logf("%+v", r)
	if err != nil {
		t.Fatal(err)
	}
}
