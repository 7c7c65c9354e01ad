package node

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// C32: each wrong address is refused with the option to set in the message.
func TestWrongAddressesAreRefused(t *testing.T) {
	three := func(a, b, c string) []Founder {
		return []Founder{{Name: "n1", Peer: a}, {Name: "n2", Peer: b}, {Name: "n3", Peer: c}}
	}
	good := three("10.0.0.1:7412", "10.0.0.2:7412", "db3.example:7412")
	for _, tt := range []struct {
		name, listen, advertise string
		initial                 []Founder
		want                    string // "" is accepted
	}{
		{"distinct addresses", "0.0.0.0:7412", "10.0.0.1:7412", good, ""},
		{"one machine, several ports", "127.0.0.1:7412", "127.0.0.1:7412", three("127.0.0.1:7412", "127.0.0.1:7422", "localhost:7432"), ""},
		{"no founder", "[::]:7412", "10.0.0.4:7412", nil, ""},
		{"IPv6", "[::]:7412", "[fd00::1]:7412", three("[fd00::1]:7412", "[fd00::2]:7412", "[fd00::3]:7412"), ""},
		{"a name that does not resolve", "[::]:7412", "not-yet.example:7412", nil, ""},

		{"any address, IPv4", "0.0.0.0:7412", "0.0.0.0:7412", nil, "--peer-advertise"},
		{"any address, IPv6", "[::]:7412", "[::]:7412", nil, "--peer-advertise"},
		{"a port alone", ":7000", ":7000", nil, "--peer-advertise"},
		{"no port", ":7412", "10.0.0.1", nil, "--peer-advertise"},
		{"port 0", ":0", "10.0.0.1:0", nil, "--peer-advertise"},
		{"a named port", ":7412", "10.0.0.1:raft", nil, "--peer-advertise"},
		{"port too high", ":7412", "10.0.0.1:65536", nil, "--peer-advertise"},
		{"multicast", ":7412", "224.0.0.1:7412", nil, "--peer-advertise"},
		{"what would forge an id", ":7412", "n2@10.0.0.1:7412", nil, "--peer-advertise"},
		{"a blank", ":7412", "10.0.0.1 :7412", nil, "--peer-advertise"},
		{"loopback on several machines", "0.0.0.0:7412", "127.0.0.1:7412", three("127.0.0.1:7412", "10.0.0.2:7412", "10.0.0.3:7412"), "--peer-advertise"},
		{"localhost on several machines", "0.0.0.0:7412", "LOCALHOST:7412", three("LOCALHOST:7412", "10.0.0.2:7412", "10.0.0.3:7412"), "--peer-advertise"},
		{"loopback of another", "0.0.0.0:7412", "10.0.0.1:7412", three("10.0.0.1:7412", "127.0.0.2:7412", "10.0.0.3:7412"), "--initial-cluster"},
		{"all at one address", "0.0.0.0:7412", "127.0.0.1:7412", three("127.0.0.1:7412", "127.0.0.1:7412", "127.0.0.1:7412"), "--initial-cluster"},
		{"two at one address", ":7412", "10.0.0.1:7412", three("10.0.0.1:7412", "DB.example:7412", "db.example:7412"), "same address"},
		{"the own entry differs", ":7412", "10.0.0.9:7412", good, "--peer-advertise"},
		{"another's address", ":7412", "10.0.0.2:7412", three("10.0.0.2:7412", "10.0.0.2:7412", "x:1"), "--initial-cluster"},
		{"another entry is any address", ":7412", "10.0.0.1:7412", three("10.0.0.1:7412", "0.0.0.0:7412", "x:1"), "--initial-cluster"},
	} {
		err := checkAddresses("n1", tt.listen, tt.advertise, tt.initial)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (!errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want one that names %q", tt.name, err, tt.want)
		}
	}
}

func TestParseFounders(t *testing.T) {
	got, err := ParseFounders("n1=h1:7412, n2=[fd00::2]:7412")
	if want := []Founder{{"n1", "h1:7412"}, {"n2", "[fd00::2]:7412"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := ParseFounders(" "); got != nil || err != nil {
		t.Errorf("nothing: %v, %v", got, err)
	}
	for _, s := range []string{"n1", "n1=h1:7412,", "=h1:7412", "n 1=h1:7412", "n1=0.0.0.0:7412", "n1=h1", strings.Repeat("n=h:1,", 33) + "n=h:1"} {
		if got, err := ParseFounders(s); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%.40q: %v, %v", s, got, err)
		}
	}
}

func FuzzParseFounders(f *testing.F) {
	f.Add("n1=h1:7412,n2=[::1]:1")
	f.Fuzz(func(t *testing.T, s string) {
		list, err := ParseFounders(s)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Fatalf("the error forges a line: %q", err)
			}
			return
		}
		for _, o := range list {
			if strings.ContainsAny(o.Name, "/@,= ") {
				t.Fatalf("name %q", o.Name)
			}
		}
	})
}
