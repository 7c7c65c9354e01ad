package client

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// LocalDirVariable is the environment variable that names the folder of all
// LocalFileStores: RocketMQ's property of that name, which rocketmq-client-go
// reads from the environment, too.
const LocalDirVariable = "rocketmq.client.localOffsetStoreDir"

// localDir is the folder in the user's home where Java's client keeps its files.
const localDir = ".rocketmq_offsets"

// RocketMQ's pauses of the persist loop: before the first run, and between runs.
const (
	RocketMQFirstPersist    = 10 * time.Second
	RocketMQPersistInterval = 5 * time.Second
)

// LocalOption changes one setting of a LocalFileStore. A nil one changes nothing.
type LocalOption func(*localSettings)

type localSettings struct {
	dir             string
	first, interval time.Duration
	timeout         time.Duration
	clock           Clock
	logger          *slog.Logger
	ignoreDamage    bool
	disk            disk
}

// WithLocalDir sets the folder; the default, and an empty one, is what the environment variable
// LocalDirVariable names, or ~/.rocketmq_offsets, as Java's client has it.
// (rocketmq-client-go has ~/.rocketmq_client_go.)
func WithLocalDir(dir string) LocalOption { return func(s *localSettings) { s.dir = dir } }

// WithLocalInterval sets the pause before the first run of the persist loop
// and that between runs; the default is 1 s for both, RocketMQ's are
// RocketMQFirstPersist and RocketMQPersistInterval. An interval of 0 or less:
// there is no loop, and the application persists.
func WithLocalInterval(first, interval time.Duration) LocalOption {
	return func(s *localSettings) { s.first, s.interval = first, interval }
}

// WithDamageIgnored lets Load go on where no file is good: they are moved
// aside under a name with the time, one warning is logged, LocalStats.Damaged
// counts them, and the consumer begins without offsets.
func WithDamageIgnored() LocalOption { return func(s *localSettings) { s.ignoreDamage = true } }

// WithLocalClock replaces the clock; the default is the real one.
func WithLocalClock(c Clock) LocalOption { return func(s *localSettings) { s.clock = c } }

// WithLocalLogger sets who is told of a fall-back to the .bak, of damage, and
// of a persist loop that fails; the default is slog.Default(), so that none of
// it stays unsaid.
func WithLocalLogger(l *slog.Logger) LocalOption { return func(s *localSettings) { s.logger = l } }

func settleLocal(opts []LocalOption) (localSettings, error) {
	s := localSettings{
		first: time.Second, interval: time.Second, timeout: 5 * time.Second,
		clock: realClock{}, logger: slog.Default(), disk: realDisk{},
	}
	for _, o := range opts {
		if o != nil {
			o(&s)
		}
	}
	if s.dir == "" {
		s.dir = os.Getenv(LocalDirVariable)
	}
	if s.dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return s, offset.Errorf(offset.ErrInvalid, "no folder for local offsets: %v; set one by WithLocalDir", err)
		}
		s.dir = filepath.Join(home, localDir)
	}
	return s, nil
}

// folderName checks that a name that came from outside is the name of one
// folder, and of no other place.
func folderName(field, name string) error {
	if err := offset.ValidateName(field, name, false); err != nil {
		return err
	}
	if name == "." || strings.ContainsAny(name, `/\`) || !filepath.IsLocal(name) {
		return offset.Errorf(offset.ErrInvalid, "%s %q cannot be the name of a folder, where its offsets are kept", field, name)
	}
	if runtime.GOOS == "windows" && strings.ContainsAny(name, `:*?"<>|`) {
		return offset.Errorf(offset.ErrInvalid, "%s %q holds a character that Windows does not have in names of folders", field, name)
	}
	return nil
}

// LocalClientID is the client id that RocketMQ's clients make in broadcasting
// mode, "ip@instance" or "ip@instance@unit", with the instance DEFAULT if it is
// empty. With it a LocalFileStore finds the folder of such a client.
func LocalClientID(ip, instance, unit string) string {
	if instance == "" {
		instance = "DEFAULT"
	}
	id := fmt.Sprintf("%s@%s", ip, instance)
	if unit != "" {
		id += "@" + unit
	}
	return id
}

// delayedClock is a clock whose first pause is another.
type delayedClock struct {
	Clock
	first time.Duration
	begun atomic.Bool
}

// After gives the first pause once, and then those of the clock.
func (f *delayedClock) After(d time.Duration) <-chan time.Time {
	if !f.begun.Swap(true) {
		d = f.first
	}
	return f.Clock.After(d)
}
