package node

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

type fakeListener struct{ net.Listener }

func (fakeListener) Addr() net.Addr { return memberAddr("n1:7412") }
func (fakeListener) Close() error   { return nil }

func good() Config {
	return Config{Name: "n1", Dir: "data", PeerListener: fakeListener{}, AdvertiseAPI: "n1:7411"}
}

func TestConfigIsChecked(t *testing.T) {
	cases := []struct {
		name  string
		with  func(*Config)
		words string // in the error; empty for none
	}{
		{"good", func(*Config) {}, ""},
		{"no name", func(c *Config) { c.Name = "" }, "member name is empty"},
		{"a name with an @", func(c *Config) { c.Name = "a@b" }, "member name"},
		{"a name with a slash", func(c *Config) { c.Name = "a/b" }, "member name"},
		{"a long name", func(c *Config) { c.Name = strings.Repeat("n", 65) }, "at most 64"},
		{"no folder", func(c *Config) { c.Dir = "" }, "data folder"},
		{"no listener", func(c *Config) { c.PeerListener = nil }, "listener"},
		{"alone with a listener", func(c *Config) { c.Alone = true }, "alone"},
		{"alone", func(c *Config) { c.Alone, c.PeerListener, c.AdvertiseAPI = true, nil, "" }, ""},
		{"no API address", func(c *Config) { c.AdvertiseAPI = "" }, "API address"},
		{"a wildcard", func(c *Config) { c.AdvertiseAPI = "0.0.0.0:7411" }, "wildcard"},
		{"an IPv6 wildcard", func(c *Config) { c.AdvertisePeer = "[::]:7412" }, "wildcard"},
		{"port 0", func(c *Config) { c.AdvertisePeer = "n1:0" }, "port"},
		{"no port", func(c *Config) { c.AdvertisePeer = "n1" }, "host:port"},
		{"an address with an id", func(c *Config) { c.AdvertisePeer = "x@n1:7412" }, "host"},
		{"lease above heartbeat", func(c *Config) {
			c.Timers = Timers{Heartbeat: 100 * time.Millisecond, Election: 100 * time.Millisecond, Lease: 200 * time.Millisecond, Commit: 10 * time.Millisecond}
		}, "lease"},
		{"too much in flight", func(c *Config) { c.InFlight = 17 }, "in flight"},
		{"large entries", func(c *Config) { c.SealBytes = offset.MaxRequest + 1 }, "sealed"},
		{"founders without this member", func(c *Config) { c.InitialCluster = []Founder{{"n2", "n2:7412"}} }, "does not name this member"},
		{"a founder twice", func(c *Config) {
			c.InitialCluster = []Founder{{"n1", "n1:7412"}, {"n1", "n2:7412"}}
		}, "twice"},
		{"an address twice", func(c *Config) {
			c.InitialCluster = []Founder{{"n1", "n1:7412"}, {"n2", "n1:7412"}}
		}, "twice"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := good()
			c.with(&cfg)
			_, err := New(cfg)
			if c.words == "" {
				if err != nil {
					t.Errorf("New: %v", err)
				}
				return
			}
			if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("New: %v, want ErrInvalid with %q", err, c.words)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	c := good().withDefaults()
	if c.Timers != LAN() || c.Timers.Lease != c.Timers.Heartbeat || c.MaxAppendEntries != 16 || c.SealBytes != 128<<10 {
		t.Errorf("defaults: %+v, %d entries an append, sealed at %d", c.Timers, c.MaxAppendEntries, c.SealBytes)
	}
	if c.AdvertisePeer != "n1:7412" {
		t.Errorf("advertises %q, want the listener's address", c.AdvertisePeer)
	}
	for _, preset := range []string{"lan", "slow-disk"} {
		timers, err := TimersNamed(preset)
		if err != nil || timers.validate() != nil {
			t.Errorf("timers %s: %v, %v", preset, err, timers.validate())
		}
	}
	if _, err := TimersNamed("wan"); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("timers wan: %v", err)
	}
}
